"""Lines of a text, packed into microbatches by their tokens: their number differs from step to step.

    packing.py FOLDER_OF_BINARIES

Packed runs come to the same bits under every order, number of ranks and transport, and up to rounding to those of a run
in which every line is a microbatch by itself. Replicas share short steps and evaluations, whatever they have to share.
"""

import math
import pathlib
import random
import shutil
import sys
import tempfile

import vime
from replicas import WIDE, Comparison

BATCH, SEQUENCE, ROOM = 13, 24, 36
ORDERS = [("gpipe", None), ("1f1b", None), ("interleaved", 2), ("zb-h1", None), ("zb-v", 2)]


def lines(folder):
    """Lines of 1 to 60 bytes, some of them empty, some longer than a sample."""
    rng, words = random.Random(5), "when the wind was in the east no boat went out to sea before noon".split()
    text = []
    for _ in range(70):
        line = ""
        while len(line) < rng.choice([0, 4, 12, 30, 55]):
            line += rng.choice(words) + " "
        text.append(line.strip())
    (folder / "lines.txt").write_text("\n".join(text) + "\n")
    (folder / "held.txt").write_text("\n".join(text[40:]) + "\n")


def samples_of(text):
    """Tokens of each sample, in the order of the text."""
    found = []
    for line in text.splitlines(keepends=True):
        if line.strip("\r\n"):
            left = len(line) - 1
            while left > 0:
                found.append(min(left, SEQUENCE))
                left -= SEQUENCE
    return found


def job(schedule, ranks, *, size=f"{ROOM} tokens", replicas=1, microbatches=None, batch=BATCH, tail="short",
        evaluation="", **others):
    text = vime.job(schedule, ranks, replicas=replicas, sequence=SEQUENCE, **others)
    head, rest = text.split("microbatches: ", 1)
    counts = f"microbatches: {microbatches}, " if microbatches else ""
    text = f"{head}{counts}microbatch: {size}}}\nbatch:     {{global: {batch} samples}}{rest[rest.index('}') + 1:]}"
    text = text.replace("text: corpus.txt", f"text: lines.txt, split: line, tail: {tail}")
    return text + (f"eval:      {{text: held.txt, every: 4 steps{evaluation}}}\n" if evaluation is not None else "")


def shows(summary):
    """What must not depend on who computes it."""
    return ([(step["loss"], step["gradient_norm"], step["tokens"]) for step in summary["history"]],
            [(one["step"], one["loss"], one["tokens"]) for one in summary["evaluations"]])


class Packing:
    def __init__(self, binaries, folder):
        self.tools, self.folder = vime.Tools(pathlib.Path(binaries).resolve(), folder), pathlib.Path(folder)
        self.compare = Comparison()

    def result(self, text, *options):
        summary = self.tools.train(self.tools.compile(text), *options)
        return (*shows(summary), vime.tensors(self.folder / "out")), summary

    def bits(self):
        """One replica, and two."""
        for replicas in (1, 2):
            reference, summary = self.result(job("gpipe", 1, replicas=replicas, export="out"))
            counts = {step["microbatches"] for step in summary["history"]}
            self.compare.say(len(counts) > 1, f"dp {replicas}: steps of {sorted(counts)} microbatches")
            for at, (schedule, chunks) in enumerate(ORDERS):
                for ranks, transport in ((2, "local"), (2, ("gloo", f"rendezvous:{at}")[at % 2])):
                    text = job(schedule, ranks, chunks=chunks, replicas=replicas, export="out")
                    found, _ = self.result(text, "--transport", transport)
                    self.compare.equal(reference, found, f"dp {replicas} pp {ranks} {schedule:12} {transport}")

    def one_by_one(self):
        """Each sample a microbatch of its own; other sums, the same losses."""
        for model, kind, bounds in ((vime.TINY, "float32", (1e-6, 1e-4, 1e-5)), (WIDE, "float64", (1e-10,) * 3)):
            alone = job("gpipe", 1, size="1 sample", export="out", model=model)
            apart, _ = self.result(alone)
            for replicas in (1, 2):
                packed, _ = self.result(job("1f1b", 2, replicas=replicas, export="out", model=model))
                name = f"dp {replicas}, packed and one by one, {kind}"
                self.near(apart, packed, name, bounds)
            three, _ = self.result(alone.replace("steps: 20", "steps: 3"))
            packed, _ = self.result(job("zb-h1", 2, steps=3, export="out", model=model))
            self.compare.near_norms((None, three[2]), (None, packed[2]), f"three steps, {kind}", bounds[2])

    def near(self, one, other, name, bounds):
        for steps, bound in ((3, bounds[0]), (20, bounds[1])):
            self.compare.near(*([[(loss, 0) for loss, *_ in found[0]]] for found in (one, other)), name, bound, steps)
        self.compare.near(*([[(loss, 0) for _, loss, _ in found[1]]] for found in (one, other)), f"{name}, held out",
                          bounds[1], len(one[1]))
        self.compare.say([tokens for *_, tokens in one[0]] == [tokens for *_, tokens in other[0]], f"{name}: tokens")

    def every_sample_once(self):
        """After whole epochs each sample has come as often as any other, whatever becomes of the last ones of an epoch."""
        samples = samples_of((self.folder / "lines.txt").read_text())
        common = math.gcd(len(samples), BATCH)
        for tail, steps, epochs in (("short", 2 * -(-len(samples) // BATCH), 2),
                                    ("join", len(samples) // common, BATCH // common)):
            _, summary = self.result(job("1f1b", 2, tail=tail, steps=steps, export="out", evaluation=None))
            tokens = sum(step["tokens"] for step in summary["history"])
            self.compare.say(tokens == epochs * sum(samples), f"{len(samples)} samples an epoch, {epochs} times, {tail}")

    def resumed(self):
        """Behind step 4, in the middle of an epoch, by other ranks too."""
        saving = "checkpoint: {dir: run.ckpt, every: 4 steps}\n"
        whole, _ = self.result(job("1f1b", 2, steps=10, export="out") + saving)
        for schedule, ranks in (("1f1b", 2), ("gpipe", 1)):
            for name in ("step-000008", "step-000010"):
                shutil.rmtree(self.folder / "run.ckpt" / name)
            found, _ = self.result(job(schedule, ranks, steps=10, export="out") + saving, "--resume")
            self.compare.equal((whole[0][4:], whole[2]), (found[0], found[2]), f"resumed on {ranks} ranks")

    def refused(self):
        """Fewer microbatches than a step needs; a sample that fits into none."""
        for text, code in ((job("1f1b", 2, microbatches=2), "J0062"), (job("1f1b", 2, size="20 tokens"), "J0038")):
            (self.folder / "few.yaml").write_text(text)
            done = self.tools.run("vimec", "few.yaml", "-o", "few.bin", expect=1)
            self.compare.say(code in done.stderr and not (self.folder / "few.bin").exists(), f"refused with {code}")

    def windows_of_replicas(self):
        """Short steps and evaluations of windows that replicas share: 13 samples and 9 in two, one sample in four."""
        for windows, replicas in ((2 * 16 + 13, 2), (16 + 1, 4)):
            vime.corpus(self.folder, windows * 33)

            def text(schedule, ranks, replicas, chunks=None):
                words = vime.job(schedule, ranks, replicas=replicas, chunks=chunks, export="out")
                words = words.replace("sequence: 32 tokens}", "sequence: 32 tokens, tail: short}")
                return words + "eval:      {text: corpus.txt, every: 4 steps, samples: 9 samples}\n"

            alone, _ = self.result(text("gpipe", 1, 1))
            reference, _ = self.result(text("gpipe", 1, replicas))
            for schedule, chunks, transport in (("1f1b", None, "gloo"), ("zb-v", 2, "local"), ("zb-h1", None, "rendezvous")):
                found, _ = self.result(text(schedule, 2, replicas, chunks), "--transport", transport)
                self.compare.equal(reference, found, f"windows, dp {replicas} pp 2 {schedule:12} {transport}")
            self.near(alone, reference, f"windows, dp {replicas} and dp 1", (1e-6, 1e-4))


def main():
    with tempfile.TemporaryDirectory() as folder:
        lines(pathlib.Path(folder))
        packing = Packing(sys.argv[1], folder)
        packing.refused()
        packing.every_sample_once()
        packing.bits()
        packing.one_by_one()
        packing.resumed()
        packing.windows_of_replicas()
    sys.exit(1 if packing.compare.failures else 0)


if __name__ == "__main__":
    main()
