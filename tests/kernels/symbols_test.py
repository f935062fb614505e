"""The two builds share no code: a function that one of them emits under a common name could be the one
that the linker keeps for everybody, and an AVX-512 function would then crash an AVX2 machine.

    symbols_test.py avx512 object...
"""
import subprocess
import sys

isa, objects = sys.argv[1], sys.argv[2:]
listing = subprocess.run(["nm", "-C", "--defined-only", *objects], check=True, capture_output=True, text=True)
shared, own = [], 0
for line in listing.stdout.splitlines():
    fields = line.split(maxsplit=2)
    if len(fields) < 3:
        continue
    kind, name = fields[1], fields[2]
    if f"vime::{isa}::" in name:
        own += 1
    elif kind in "WVuTDBR" and not name.startswith("DW.ref."):  # visible to the linker; DW.ref: a pointer
        shared.append(line)
if shared or not own:
    sys.exit(f"{isa}: {own} symbols of its own, {len(shared)} outside its namespace:\n" + "\n".join(shared))
