"""roff.py PAGE: fails unless every line of a manual page is text or one of the requests that our pages use."""

import re
import sys

REQUESTS = {"TH", "SH", "SS", "TP", "B", "br", "nf", "fi", "PP"}

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
for number, line in enumerate(lines, 1):
    request = re.match(r"\.(\w*)", line)
    if request and request[1] not in REQUESTS:
        sys.exit(f"{sys.argv[1]}:{number}: no request of ours: {line}")
    if re.search(r"\\(?![-e&]|f[BIRP])", line):
        sys.exit(f"{sys.argv[1]}:{number}: no escape of ours: {line}")
if lines.count(".nf") != lines.count(".fi"):
    sys.exit(f"{sys.argv[1]}: .nf without .fi")
if not lines[0].startswith(".TH ") or len(lines) < 20:
    sys.exit(f"{sys.argv[1]}: no manual page")
