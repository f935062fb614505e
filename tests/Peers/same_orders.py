"""Orders of the same name are the same in PyTorch, cell by cell, and are lowered alike; asked of the installed PyTorch itself.

    same_orders.py FOLDER_OF_BINARIES

What differs: PyTorch 2.13 gives GPipe and 1F1B with their reductions of gradients and without idle slots, so that these are
compared by their tasks; it refuses 1F1B with fewer microbatches than ranks; and the last rank of its 1F1B begins with
microbatch 1 and ends with one that there is not, which `vimec verify` refuses, as PyTorch's own check does. Its executor does
not look at that table. `vimec order 1f1b` has what the executor runs.
"""

import collections
import itertools
import pathlib
import subprocess
import sys

import torch
from torch.distributed.pipelining._schedule_visualizer import get_schedule_ops

VIMEC = pathlib.Path(sys.argv[1]).resolve() / "vimec"
SINGLE = {"GPipe": "gpipe", "1F1B": "1f1b"}  # one stage a rank
MULTI = {"LoopedBFS": "looped-bfs", "Interleaved1F1B": "interleaved", "InterleavedZeroBubble": "interleaved-zb",
         "ZBVZeroBubble": "zb-v", "DualPipeV": "dualpipe-v"}
VEE = ("ZBVZeroBubble", "DualPipeV")


def shapes(name):
    for ranks, chunks in itertools.product((2, 3, 4, 8), [1] if name in SINGLE else [2] if name in VEE else [2, 4]):
        for microbatches in sorted({1, 3, 10, ranks, 2 * ranks, 3 * ranks + 1}):
            yield ranks, microbatches, chunks


def theirs(name, ranks, microbatches, chunks, **options):
    """Rows of cells, or None where PyTorch refuses the shape."""
    try:
        rows = get_schedule_ops(name, ranks, microbatches, chunks, **options)
    except ValueError:
        return None
    return [["" if action is None else str(action) for action in row] for row in rows]


def vimec(*arguments, stdin=""):
    return subprocess.run([VIMEC, *map(str, arguments)], input=stdin, capture_output=True, text=True, check=False)


def ours(name, ranks, microbatches, chunks, *options):
    done = vimec("order", name, "--ranks", ranks, "--microbatches", microbatches, "--chunks", chunks, "--format=csv", *options)
    assert done.returncode in (0, 1), done.stderr
    return [row.split(",") for row in done.stdout.splitlines()] if done.returncode == 0 else None


def compare_multi(name, shape):
    tasks = theirs(name, *shape), ours(MULTI[name], *shape)
    assert tasks[0] == tasks[1], (name, shape, *tasks)
    if tasks[0] is None:
        return "refused by both"
    lowered = theirs(name, *shape, with_comms=True), ours(MULTI[name], *shape, "--with=shards")
    assert lowered[0] == lowered[1], (name, shape, *lowered)
    return "equal, and lowered alike"


def tasks_alone(rows):
    return [[cell for cell in row if cell and not cell.endswith("REDUCE_GRAD")] for row in rows]


def compare_single(name, shape):
    them, us = theirs(name, *shape), tasks_alone(ours(SINGLE[name], *shape))
    ranks, microbatches, _ = shape
    if them is None:
        assert name == "1F1B" and microbatches < ranks, (name, shape)
        return "refused by PyTorch"
    them = tasks_alone(them)
    if them == us:
        return "equal"
    assert name == "1F1B" and them[:-1] == us[:-1], (name, shape, them, us)
    verdict = vimec("verify", "-", stdin="".join(",".join(row) + "\n" for row in them))
    assert verdict.returncode == 1 and "error[S0101]" in verdict.stderr, verdict.stderr
    return "equal but for PyTorch's last rank, which is not legal"


def main():
    for name in [*SINGLE, *MULTI]:
        compare = compare_single if name in SINGLE else compare_multi
        found = collections.Counter(compare(name, shape) for shape in shapes(name))
        assert sum(count for what, count in found.items() if what.startswith("equal")) >= 10, found
        print(f"{name} of PyTorch {torch.__version__}: " + ", ".join(f"{count} {what}" for what, count in found.items()))


if __name__ == "__main__":
    main()
