"""Orders with a period are loops in a plan, whose trips follow the step: the same bits as without loops.

    periodic.py FOLDER_OF_BINARIES
"""

import random
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
import vime

WHOLE, SHORT = 40, 24  # microbatches of one sample; an epoch is two whole steps and a short one
STEPS = 7


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def aperiodic(folder):
    """A table of one rank that repeats nowhere: the next forward or the next backward, as it falls."""
    chance, row, forwards, backwards = random.Random(7), [], 0, 0
    while backwards < WHOLE:
        if forwards < WHOLE and (forwards == backwards or chance.random() < 0.5):
            row.append(f"0F{forwards}")
            forwards += 1
        else:
            row.append(f"0B{backwards}")
            backwards += 1
    (folder / "order.csv").write_text(",".join(row) + "\n")


def text_of(schedule, ranks, *, chunks=None, saves=False):
    text = vime.job(schedule, ranks, chunks=chunks, microbatches=WHOLE, samples=1, steps=STEPS, export="out")
    text = text.replace("sequence: 32 tokens}", "sequence: 32 tokens, tail: short}")
    return text + ("checkpoint: {dir: run.ckpt, every: 2 steps}\n" if saves else "")


def shows(summary):
    return [(step["loss"], step["gradient_norm"], step["tokens"], step["microbatches"]) for step in summary["history"]]


def trips_of(tools, plan):
    """Trips of the loops over microbatches of rank 0, and their `per_trip`."""
    text = tools.run("vimec", "show", plan, "--format=text").stdout.split("\nprogram 1")[0]
    found = re.findall(r"^loop [1-9]\d* .*trips (\d+) .*?(?:per_trip (\d+))?$", text, re.MULTILINE)
    return [(int(trips), int(per_trip or 0)) for trips, per_trip in found]


def same_bits(tools):
    flat = tools.compile(text_of("order.csv", 1))
    check(trips_of(tools, flat) == [], "the reference has a loop")
    reference = tools.train(flat)
    parameters = vime.tensors(tools.folder / "out")
    check([step["microbatches"] for step in reference["history"]] == [WHOLE, WHOLE, SHORT] * 2 + [WHOLE],
          reference["history"])
    for schedule, chunks, ranks, options in [
            ("1f1b", None, 1, ()), ("1f1b", None, 2, ()), ("1f1b", None, 4, ("--transport", "rendezvous:merged")),
            ("gpipe", None, 2, ()), ("interleaved", 2, 2, ()), ("zb-h1", None, 2, ("--transport", "gloo")),
            ("zb-v", 2, 2, ())]:
        plan = tools.compile(text_of(schedule, ranks, chunks=chunks))
        loops = trips_of(tools, plan)
        check(loops and all(per_trip for _, per_trip in loops), f"{schedule} on {ranks} ranks: loops {loops}")
        other = tools.train(plan, *options)
        check(shows(other) == shows(reference), f"{schedule} on {ranks} ranks differs")
        check(vime.tensors(tools.folder / "out") == parameters, f"{schedule} on {ranks} ranks: parameters differ")
    print("loops whose trips follow the step: the same bits as without")
    return reference, parameters


def resumed(tools, reference, parameters):
    """From behind a step in the middle, with other ranks."""
    tools.train(tools.compile(text_of("1f1b", 2, saves=True)))
    for path in (tools.folder / "run.ckpt").iterdir():
        if path.is_dir() and path.name != "step-000002":
            shutil.rmtree(path)
    other = tools.train(tools.compile(text_of("zb-h1", 4, saves=True)), "--resume")
    check(shows(other) == shows(reference)[2:], "a resumed run differs")
    check(vime.tensors(tools.folder / "out") == parameters, "a resumed run has other parameters")
    print("resumed across ranks and orders: the same bits")


def saved_steps(tools, reference):
    """One number of microbatches and checkpoints: loops without a case around them."""
    whole = text_of("1f1b", 2).replace("tail: short", "tail: drop")
    (tools.folder / "run.ckpt").exists() and shutil.rmtree(tools.folder / "run.ckpt")
    plain = tools.train(tools.compile(whole))
    saving = tools.compile(whole + "checkpoint: {dir: run.ckpt, every: 2 steps}\n")
    check([per_trip for _, per_trip in trips_of(tools, saving)] == [0], trips_of(tools, saving))
    check(shows(tools.train(saving)) == shows(plain), "saving changes the run")
    check(shows(plain)[:2] == shows(reference)[:2], "whole steps differ")
    print("loops beside checkpoints: the same bits")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tools = vime.Tools(sys.argv[1], folder)
        vime.corpus(tools.folder, (2 * WHOLE + SHORT) * 33)
        aperiodic(tools.folder)
        reference, parameters = same_bits(tools)
        resumed(tools, reference, parameters)
        saved_steps(tools, reference)


if __name__ == "__main__":
    main()
