"""losses.py: of a run's --json on standard input the losses, one a line, to their last bit."""
import json
import sys

for step in json.load(sys.stdin)["history"]:
    print(float(step["loss"]).hex())
