"""`pip install ./python`: builds without MLIR and without a network, and is the package that the build tree has.

    wheel_test.py SETUP_FOLDER      where scripts/setup has put pip, scikit-build-core and pybind11
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from tree import ROOT

USE = """
import vime
assert vime.__file__.startswith({folder!r}), vime.__file__
order = vime.order("zb-v", ranks=4, microbatches=8)
assert not order.verify() and order.measure((10, 12, 8)).makespan == 516
assert vime.Order.from_csv("0F0,0B0,0F1,0B1\\n1F0,1F1,1B0,1B1\\n").verify()[0].code == "C0207"
"""


def source_files():
    return sorted(file for file in (ROOT / "python").rglob("*") if "__pycache__" not in file.parts)


def install(python, folder):
    """Seconds it took."""
    environment = {**os.environ, **({"CMAKE_CXX_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {})}
    began = time.monotonic()
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps",
                    "--no-build-isolation", "--target", folder, ROOT / "python"], check=True, env=environment)
    return time.monotonic() - began


def main():
    python = pathlib.Path(sys.argv[1]).resolve() / "bin" / "python"
    before = source_files()
    with tempfile.TemporaryDirectory() as folder:
        seconds = install(python, folder)
        environment = {**os.environ, "PYTHONPATH": folder}
        subprocess.run([python, "-B", "-c", USE.format(folder=folder)], check=True, env=environment, cwd=folder)
        subprocess.run([python, "-B", ROOT / "tests/python/hostile_test.py"], check=True, env=environment)
        names = {file.name for file in (pathlib.Path(folder) / "vime").iterdir()}
        expected = {file.name for file in (ROOT / "python/vime").glob("*.py*")} | {"py.typed"}
        assert expected <= names and any(name.endswith(".so") for name in names), names
    assert source_files() == before, "pip leaves files in the tree"
    print(f"pip install ./python took {seconds:.0f} s")


main()
