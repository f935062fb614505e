"""Judges which libraries a program loads when it starts: what a plan does not need is not there.

    linkage.py RULE PROGRAM       RULE is a key of FORBIDDEN; exit code 1 if a forbidden library is loaded
"""

import re
import subprocess
import sys

FORBIDDEN = {
    "vime-exec": r"lib(MLIR|LLVM|torch|c10|gloo|curl|re2|yaml-cpp)",
    "vimec": r"lib(torch|c10|gloo)",
    "vime-opt": r"lib(torch|c10|gloo)",
    "gloo-plugin": r"lib(MLIR|LLVM|torch|c10)",
    "http-plugin": r"lib(MLIR|LLVM|torch|c10|gloo|yaml-cpp)",
    "libtorch-plugin": r"lib(MLIR|LLVM|yaml-cpp)",
}


def loaded(program):
    """File names of all shared libraries of the program, those of its libraries included."""
    lines = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout.splitlines()
    missing = [line.strip() for line in lines if "not found" in line]
    if missing:
        sys.exit(f"{program}: {'; '.join(missing)}")
    return [line.split()[0].rsplit("/", 1)[-1] for line in lines if line.strip()]


def main():
    rule, program = sys.argv[1:]
    found = [name for name in loaded(program) if re.match(FORBIDDEN[rule], name)]
    print(f"{program} loads " + (", ".join(found) if found else f"nothing that {rule} must not load"))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
