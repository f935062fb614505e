"""Judges every #include of the tree by the layers of compiler/docs/architecture.md, section 2.

    includes.py ROOT        prints one line per include that crosses a line; exit code 1 if there is one
"""

import pathlib
import re
import sys

# What compiler and runtime have in common.
CONTRACTS = ["runtime/Base/", "runtime/Plan/", "runtime/ModelSpec/", "kernels/DataType.h", "kernels/KernelLibrary.h",
             "kernels/SquareNumbers.h", "kernels/SumType.h"]

# Who may include whom: the first row whose folder holds the file decides. A folder always sees itself.
INSIDE = [
    # folder                what it sees of this repository
    ("schedules/",          []),
    ("dialects/",           ["schedules/", *CONTRACTS]),
    # What judges a plan knows nothing of what made it.
    ("compiler/Verify/",    ["compiler/Diagnostics/", "dialects/", "schedules/", *CONTRACTS]),
    # What runs leave behind is for the tools to read, and to compare with what was expected.
    ("compiler/Analysis/",  ["compiler/", "dialects/", "schedules/", *CONTRACTS, "runtime/Trace/"]),
    ("compiler/Driver/",    ["compiler/", "dialects/", "schedules/", *CONTRACTS, "runtime/CommandLine/", "runtime/Data/",
                             "runtime/Trace/"]),
    # How a text is cut and packed, and what patterns and commands mean, is asked of those who will do it.
    ("compiler/",           ["dialects/", "schedules/", *CONTRACTS, "runtime/CommandLine/", "runtime/Data/",
                             "runtime/Reward/CommandWords.h", "runtime/Reward/Pattern.h"]),
    # Orders and their judge for Python: what can be built without MLIR.
    ("python/",             ["schedules/", "compiler/Diagnostics/", "compiler/Verify/VerifyOrder.h"]),
    ("runtime/Base/",       []),
    # What both tools say about their command lines.
    ("runtime/CommandLine/", ["runtime/Base/"]),
    ("runtime/Data/",       CONTRACTS),
    ("runtime/Plan/",       CONTRACTS),
    ("runtime/Trace/",      CONTRACTS),
    ("runtime/ModelSpec/",  ["runtime/Base/", "kernels/DataType.h", "kernels/KernelLibrary.h", "kernels/SumType.h",
                             "kernels/Workspace.h"]),
    ("runtime/",            ["kernels/"]),
    ("kernels/",            []),
    # What judges the judges has the plan in common with them, and what an order is.
    ("tests/Interpreter/",  ["schedules/Schedule.h", *CONTRACTS]),
    ("tests/",              ["schedules/", "dialects/", "compiler/", "runtime/", "kernels/"]),
]

# Libraries that only these folders may know.
LIBRARIES = [
    # include starts with               seen only in
    (("mlir/", "llvm/", "mlir-c/"),     ["dialects/", "compiler/", "tests/"]),
    (("torch/", "ATen/", "c10/"),       ["kernels/LibTorch/", "runtime/Model/LibTorch/", "tests/Oracle/",
                                         "tests/kernels/LibTorch", "tests/kernels/Loan"]),
    (("gloo/",),                        ["runtime/Transport/Gloo"]),
    (("curl/",),                        ["runtime/Reward/Curl"]),
    (("re2/",),                         ["runtime/Reward/Pattern"]),
    (("yaml-cpp/",),                    ["compiler/Frontend/"]),
    (("pybind11/",),                    ["python/"]),
]

# Dear to compile, so never in a header, but for those that only who knows LibTorch includes.
LIBTORCH = ("kernels/LibTorch/", "runtime/Model/LibTorch/", "tests/Oracle/")
SOURCES_ONLY = ("fmt/", "CLI/", "nlohmann/json.hpp", "gloo/", "torch/", "ATen/", "yaml-cpp/")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


def violations(root):
    """Yields (file, line, included, why) for each include that crosses a line."""
    for file in sorted(files(root)):
        name = file.relative_to(root).as_posix()
        text = file.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            bracket, included = match.groups()
            why = objection(name, bracket, included)
            if why:
                yield name, text.count("\n", 0, match.start(2)) + 1, included, why


def files(root):
    folders = {folder.split("/")[0] for folder, _ in INSIDE}
    for folder in folders:
        for suffix in ("*.h", "*.cpp", "*.inc", "*.cu", "*.cuh", "*.td"):
            yield from (root / folder).rglob(suffix)


def objection(name, bracket, included):
    """Why the file may not include this, or None."""
    layer, seen = next((row for row in INSIDE if name.startswith(row[0])), (None, None))
    tree = {folder.split("/")[0] + "/" for folder, _ in INSIDE}
    if included.startswith(tuple(tree)):
        allowed = [layer, *seen]
        return None if included.startswith(tuple(allowed)) else f"{layer} does not know it"
    if bracket == '"' and not is_library(included):
        return "include by the path from the root of the repository"
    if layer == "schedules/" and re.search(r"[/.]", included):
        return "schedules/ knows only the C++ standard library"
    for prefixes, folders in LIBRARIES:
        if included.startswith(prefixes) and not name.startswith(tuple(folders)):
            return f"only {', '.join(folders)} may know this library"
    if name.endswith(".h") and included.startswith(SOURCES_ONLY) and not name.startswith(LIBTORCH):
        return "too dear for a header, include it in a .cpp"
    return None


def is_library(included):
    return any(included.startswith(prefixes) for prefixes, _ in LIBRARIES) or included.startswith("flatbuffers/")


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(violations(root))
    for name, line, included, why in found:
        print(f"{name}:{line}: includes {included}: {why}")
    print(f"{sum(1 for _ in files(root))} files, {len(found)} includes cross a line")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
