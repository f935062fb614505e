"""Samples in slices train as whole ones do, up to rounding, and to the same bits under every number of ranks and transport.

    slices.py FOLDER_OF_BINARIES

A slice attends to those before it, and what its backward adds to the gradients of their keys and values comes before their
own. So forwards have the bits that they have where samples are whole, and gradients are another order of the same sums. For
each number of slices, losses, norms and exported parameters are compared bit for bit with those on one rank, and with those
of one rank without slices within what replicas are allowed to differ by (replicas.py).
"""

import pathlib
import sys
import tempfile

import vime
from replicas import NARROW, WIDE, Comparison, result

TIED = vime.TINY.replace("vocab: 256", "vocab: 256, tied: true").replace("llama", "qwen3")


def sliced(tools, slices, ranks, transport="local", *, replicas=1, **job):
    return result(tools, "seq1f1b", ranks, replicas, "--transport", transport, pipeline=f"slices: {slices}", **job)


def to_the_bit(tools, compare, slices):
    reference = sliced(tools, slices, 1)
    for ranks, transport in ((1, "gloo"), (2, "local"), (2, "rendezvous:3"), (4, "local"), (4, "gloo"), (4, "rendezvous:merged")):
        compare.equal(reference, sliced(tools, slices, ranks, transport), f"{slices} slices, pp {ranks} {transport}")
    compare.equal(reference, sliced(tools, slices, 2, recompute=True), f"{slices} slices, pp 2, layers recomputed")
    return reference


def kinds_of_models(tools, compare):
    """float64, bfloat16, and a tied head with norms of heads."""
    for name, model, most in (("float64", WIDE, 1e-10), ("bfloat16", NARROW, 1e-4), ("tied qwen3", TIED, 1e-4)):
        whole, parts = result(tools, "gpipe", 1, 1, model=model), sliced(tools, 4, 1, model=model)
        compare.near(whole, parts, f"4 slices and whole samples, {name}", most, 20)
        compare.equal(parts, sliced(tools, 4, 4, "rendezvous:merged", model=model), f"4 slices, pp 4 merged, {name}")
        if model == WIDE:
            compare.near_norms(whole, parts, f"4 slices and whole samples, {name}", 1e-10)


def replicas(tools, compare, alone):
    reference = sliced(tools, 2, 1, replicas=2)
    compare.near(alone, reference, "2 slices in each of two replicas and one", 1e-4, 20)
    compare.equal(reference, sliced(tools, 2, 2, "gloo", replicas=2), "2 slices, dp 2 pp 2 gloo")


def evaluated(tools, compare):
    """Held-out losses are those of whole samples, but for the order in which losses are added; an evaluation of fewer
    samples than its microbatches have leaves the last of them smaller."""
    found = []
    for schedule, ranks, pipeline in (("gpipe", 1, None), ("seq1f1b", 1, "slices: 4"), ("seq1f1b", 4, "slices: 4")):
        text = vime.job(schedule, ranks, pipeline=pipeline, steps=2).replace(
            "optimizer:", "eval:      {text: corpus.txt, every: 1 step, samples: 5 samples}\noptimizer:")
        found.append([one["loss"] for one in tools.train(tools.compile(text))["evaluations"]])
    off = max(abs(one - other) / one for one, other in zip(found[0], found[1], strict=True))
    compare.say(off <= 1e-6, f"4 slices and whole samples: held-out loss of two steps off by {off:.1e}")
    compare.say(found[1] == found[2], "4 slices, pp 4: held-out losses, bits")


def saved_and_resumed(tools, compare, whole):
    text = vime.job("seq1f1b", 2, export="out", pipeline="slices: 2").replace(
        "run:", "checkpoint: {dir: saved, every: 7 steps}\nrun:")
    tools.train(tools.compile(text, "first", "--set", "run.steps=7"))
    tools.train(tools.compile(text, "second"), "--resume")
    compare.say(vime.tensors(tools.folder / "out") == whole[1], "2 slices saved behind 7 steps and resumed: parameters")


def short_steps(tools, compare):
    """The last step of an epoch has fewer microbatches, all of them with all their slices."""
    def short(*arguments, **job):
        return [step["loss"] for step in tools.train(tools.compile(
            vime.job(*arguments, **job).replace("tokens}", "tokens, tail: short}"), "short"))["history"]]
    vime.corpus(tools.folder, size=33 * 44)  # 44 samples: two steps of 16 and one of 12
    whole = short("gpipe", 1, steps=3)
    for ranks in (1, 2):
        found = short("seq1f1b", ranks, steps=3, pipeline="slices: 4")
        off = max(abs(one - other) / one for one, other in zip(whole, found, strict=True))
        compare.say(off <= 1e-6, f"4 slices and whole samples, pp {ranks}, a short step: loss off by {off:.1e}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tools, compare = vime.Tools(pathlib.Path(sys.argv[1]).resolve(), folder), Comparison()
        vime.corpus(tools.folder)
        alone, three = result(tools, "gpipe", 1, 1), result(tools, "gpipe", 1, 1, steps=3)
        for slices in (2, 4):
            reference = to_the_bit(tools, compare, slices)
            compare.near(alone, reference, f"{slices} slices and whole samples, float32", 1e-6, 3)
            compare.near(alone, reference, f"{slices} slices and whole samples, float32", 1e-4, 20)
            compare.near_norms(three, sliced(tools, slices, 2, steps=3), f"{slices} slices, float32, three steps", 1e-5)
            if slices == 2:
                saved_and_resumed(tools, compare, reference)
        kinds_of_models(tools, compare)
        replicas(tools, compare, alone)
        evaluated(tools, compare)
        short_steps(tools, compare)
    sys.exit(1 if compare.failures else 0)


if __name__ == "__main__":
    main()
