"""Replicas train together to the same bits under every order and transport, and as one replica does up to rounding.

    replicas.py FOLDER_OF_BINARIES

dp replicas with m microbatches each take the same samples as one replica with dp * m. For each dp, losses, norms and
exported parameters are compared bit for bit with those of pp = 1 under GPipe. With dp = 1 they differ by the order in
which gradients are added, so they are compared within what that may change.
"""

import math
import pathlib
import struct
import sys
import tempfile

import vime

ORDERS = [("gpipe", None), ("1f1b", None), ("interleaved", 2), ("zb-h1", None), ("zb-v", 2)]
WIDE = vime.TINY.replace("float32", "float64")
NARROW = vime.TINY.replace("float32", "bfloat16")


def result(tools, schedule, ranks, replicas, *options, chunks=None, **job):
    """Losses and norms in full precision, and the exported tensors."""
    plan = tools.compile(vime.job(schedule, ranks, replicas=replicas, chunks=chunks, export="out", **job))
    summary = tools.train(plan, *options)
    return [(step["loss"], step["gradient_norm"]) for step in summary["history"]], vime.tensors(tools.folder / "out")


def numbers(tensor):
    dtype, _, data = tensor
    return struct.unpack(f"<{len(data) // {'F32': 4, 'F64': 8}[dtype]}{ {'F32': 'f', 'F64': 'd'}[dtype]}", data)


def norm(values):
    return math.sqrt(math.fsum(value * value for value in values))


class Comparison:
    """Counts what differs."""

    def __init__(self):
        self.failures = 0

    def say(self, holds, text):
        self.failures += not holds
        print(f"{text}  {'ok' if holds else 'TOO FAR'}", flush=True)

    def equal(self, reference, found, text):
        self.say(found == reference, f"{text:58} bits")

    def near(self, reference, found, text, most, steps):
        worst = max(abs(one - other) / abs(one) for (one, _), (other, _)
                    in zip(reference[0][:steps], found[0][:steps], strict=True))
        self.say(worst <= most, f"{text:58} loss of {steps} steps off by {worst:.1e}, at most {most:.0e}")

    def near_norms(self, reference, found, text, most):
        worst = max(abs(norm(numbers(found[1][name])) / norm(numbers(tensor)) - 1)
                    for name, tensor in reference[1].items())
        self.say(worst <= most, f"{text:58} norm of a tensor off by {worst:.1e}, at most {most:.0e}")


def to_the_bit(tools, compare, replicas, reference):
    runs = [(1, schedule, None, "local") for schedule in ("1f1b",)]
    runs += [(1, "gpipe", None, "gloo"), (1, "gpipe", None, "rendezvous:merged")]
    if replicas == 2:
        runs += [(2, schedule, chunks, "local") for schedule, chunks in ORDERS]
        runs += [(2, schedule, chunks, "gloo") for schedule, chunks in ORDERS if schedule in ("1f1b", "zb-v")]
        runs += [(2, schedule, chunks, f"rendezvous:{seed}") for seed, (schedule, chunks) in enumerate(ORDERS)]
    for ranks, schedule, chunks, transport in runs:
        found = result(tools, schedule, ranks, replicas, "--transport", transport, chunks=chunks)
        compare.equal(reference, found, f"dp {replicas} pp {ranks} {schedule:12} {transport}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tools, compare = vime.Tools(pathlib.Path(sys.argv[1]).resolve(), folder), Comparison()
        vime.corpus(tools.folder)
        alone = result(tools, "gpipe", 1, 1)
        for replicas in (2, 4):
            reference = result(tools, "gpipe", 1, replicas)
            to_the_bit(tools, compare, replicas, reference)
            compare.near(alone, reference, f"dp {replicas} and dp 1, float32", 1e-6, 3)
            compare.near(alone, reference, f"dp {replicas} and dp 1, float32", 1e-4, 20)
        compare.near_norms(result(tools, "gpipe", 1, 1, steps=3), result(tools, "1f1b", 2, 2, steps=3),
                          "dp 2 and dp 1, float32, three steps", 1e-5)
        wide = [result(tools, "gpipe", 1, replicas, model=WIDE) for replicas in (1, 2)]
        compare.near(*wide, "dp 2 and dp 1, float64", 1e-10, 20)
        compare.near_norms(*wide, "dp 2 and dp 1, float64", 1e-10)
        # Of bfloat16 the gradients of weights, and so what replicas add up, are float32.
        narrow = [result(tools, "gpipe", 1, replicas, model=NARROW) for replicas in (1, 2)]
        compare.near(*narrow, "dp 2 and dp 1, bfloat16", 1e-4, 20)
        for ranks, schedule, chunks, transport in [(2, "zb-v", 2, "local"), (1, "1f1b", None, "gloo")]:
            found = result(tools, schedule, ranks, 2, "--transport", transport, chunks=chunks, model=NARROW)
            compare.equal(narrow[1], found, f"dp 2 pp {ranks} {schedule:12} {transport}, bfloat16")
    sys.exit(1 if compare.failures else 0)


if __name__ == "__main__":
    main()
