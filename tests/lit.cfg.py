# The lit suite: *.mlir, *.test and *.yaml below this folder, run against the tools of one build folder.
#
#   lit.py --param build=BUILD_FOLDER [--param llvm=FOLDER_OF_FILECHECK] tests
#
# %vimec, %vime-opt and %vime-exec are the tools, %python is the interpreter; FileCheck, not, count and split-file are on the path.
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from lit_format import TestsWithRunLines

build = os.path.abspath(lit_config.params["build"])
llvm = lit_config.params.get("llvm", "/usr/lib/llvm-19/bin")

config.name = "vime"
config.test_format = TestsWithRunLines(execute_external=False)
config.suffixes = [".mlir", ".test", ".yaml"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(build, "tests", "lit")
config.environment["PATH"] = os.pathsep.join([llvm, os.environ["PATH"]])
config.environment["LANG"] = "C.UTF-8"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%python", sys.executable))
for tool in ("vime-opt", "vime-exec", "vimec"):
    config.substitutions.append((f"%{tool}\\b", os.path.join(build, "bin", tool)))
