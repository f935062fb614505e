"""Where the tests find the tools and the examples of this tree."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(os.environ["VIME_TREE"])
VIMEC = pathlib.Path(os.environ["VIME_BINARIES"]) / "vimec"


def vimec(*arguments, stdin="", code=0):
    """What the tool prints."""
    done = subprocess.run([VIMEC, *map(str, arguments)], input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout


def vimec_json(*arguments, stdin="", code=0):
    return json.loads(vimec(*arguments, "--json", stdin=stdin, code=code))
