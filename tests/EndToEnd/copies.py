"""Two copies of a model that go opposite ways train together as one copy does, up to rounding.

    copies.py FOLDER_OF_BINARIES

Each copy adds up the gradients of its own microbatches, every other one, and then the sums of both are added. That is the
same arithmetic for `chimera` and `dualpipe` and for every number of ranks and transport: losses, norms and exported
parameters are compared bit for bit. With one rank, which adds the gradients of all microbatches in a row, they are compared
within what replicas are allowed to differ by (replicas.py).
"""

import pathlib
import sys
import tempfile

import vime
from replicas import NARROW, WIDE, Comparison, result

TIED = vime.TINY.replace("vocab: 256", "vocab: 256, tied: true")


def to_the_bit(tools, compare, reference):
    """Whatever must not change the bits: order, ranks, transport, layers and places of stages."""
    runs = [("chimera", ranks, transport, None) for ranks in (2, 4, 8) for transport in ("local",)]
    runs += [("chimera", 4, "gloo", None), ("chimera", 4, "rendezvous:merged", None), ("chimera", 2, "rendezvous:3", None)]
    runs += [("dualpipe", ranks, "local", None) for ranks in (2, 4)]
    runs += [("dualpipe", 4, "gloo", None), ("dualpipe", 4, "rendezvous:merged", None)]
    runs += [("chimera", 4, "local", "layout: [3, 2, 2, 1]"), ("dualpipe", 4, "local", "placement: [1, 3, 0, 2]")]
    for schedule, ranks, transport, more in runs:
        found = result(tools, schedule, ranks, 1, "--transport", transport, pipeline=more)
        compare.equal(reference, found, f"{schedule:9} pp {ranks} {transport:18}{more or ''}")


def saved_and_resumed(tools, compare):
    """A run that goes on from a checkpoint of the first copy gives both of them what they had; under one rank too."""
    whole = result(tools, "chimera", 4, 1)
    text = vime.job("chimera", 4, export="out").replace("run:", 
        "checkpoint: {dir: saved, every: 7 steps}\neval: {text: corpus.txt, every: 3 steps, microbatches: 3}\nrun:")
    tools.train(tools.compile(text, "first", "--set", "run.steps=7"))
    tools.train(tools.compile(text, "second"), "--resume")
    found = vime.tensors(tools.folder / "out")
    compare.say(found == whole[1], "chimera saved behind 7 steps and resumed: parameters")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tools, compare = vime.Tools(pathlib.Path(sys.argv[1]).resolve(), folder), Comparison()
        vime.corpus(tools.folder)
        alone, reference = result(tools, "gpipe", 1, 1), result(tools, "chimera", 2, 1)
        to_the_bit(tools, compare, reference)
        compare.near(alone, reference, "two copies and one, float32", 1e-6, 3)
        compare.near(alone, reference, "two copies and one, float32", 1e-4, 20)
        short = [result(tools, schedule, ranks, 1, steps=3) for schedule, ranks in (("gpipe", 1), ("dualpipe", 4))]
        compare.near_norms(*short, "two copies and one, float32, three steps", 1e-5)
        for name, model, most in (("float64", WIDE, 1e-10), ("bfloat16", NARROW, 1e-4), ("tied", TIED, 1e-4)):
            one, two = (result(tools, schedule, ranks, 1, model=model) for schedule, ranks in (("gpipe", 1), ("chimera", 4)))
            compare.near(one, two, f"two copies and one, {name}", most, 20)
            other = result(tools, "dualpipe", 2, 1, "--transport", "rendezvous:merged", model=model)
            compare.equal(two, other, f"dualpipe  pp 2 rendezvous:merged, {name}")
        both = [result(tools, schedule, ranks, 2) for schedule, ranks in (("chimera", 2), ("dualpipe", 2), ("chimera", 4))]
        for found in both[1:]:
            compare.equal(both[0], found, "two copies in each of two replicas")
        compare.near(alone, both[0], "two copies in each of two replicas and one", 1e-4, 20)
        saved_and_resumed(tools, compare)
    sys.exit(1 if compare.failures else 0)


if __name__ == "__main__":
    main()
