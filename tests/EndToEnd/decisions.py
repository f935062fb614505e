"""What varies from step to step: short steps, evaluations, early ends, learning rates, skipped steps.

    decisions.py FOLDER_OF_BINARIES
"""

import math
import sys
import tempfile

import vime

WINDOWS = 44  # of 33 bytes: with 16 samples a step, two whole steps and one of 12 samples, 6 microbatches of 8


def text_of(schedule, ranks, *, chunks=None, steps=7, export=None, tail="short", evaluation="", optimizer=""):
    text = vime.job(schedule, ranks, chunks=chunks, steps=steps, export=export)
    text = text.replace("sequence: 32 tokens}", f"sequence: 32 tokens, tail: {tail}}}")
    text = text.replace("clip: 1.0}", f"clip: 1.0{optimizer}}}")
    return text + (f"eval:      {{{evaluation}}}\n" if evaluation else "")


def train(tools, text, *options):
    return tools.train(tools.compile(text), *options)


def shows(summary):
    """All that must not depend on who computes it."""
    return ([(step["loss"], step["gradient_norm"], step["tokens"], step["microbatches"]) for step in summary["history"]],
            [(one["step"], one["loss"], one["tokens"]) for one in summary["evaluations"]])


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def short_steps(tools):
    """The same bits under every order, number of ranks and transport, with short steps and evaluations between."""
    held = "text: held.txt, every: 2 steps, microbatches: 10"
    reference = train(tools, text_of("gpipe", 1, export="out", evaluation=held))
    parameters = vime.tensors(tools.folder / "out")
    check([step["tokens"] for step in reference["history"]] == [512, 512, 384] * 2 + [512], reference["history"])
    check([step["microbatches"] for step in reference["history"]] == [8, 8, 6] * 2 + [8], reference["history"])
    check([one["step"] for one in reference["evaluations"]] == [1, 3, 5, 6], reference["evaluations"])
    for schedule, chunks, ranks, options in [
            ("1f1b", None, 2, ()), ("1f1b", None, 4, ("--transport", "rendezvous:merged")), ("gpipe", None, 2, ()),
            ("interleaved", 2, 2, ()), ("zb-h1", None, 2, ("--transport", "gloo")), ("zb-v", 2, 2, ())]:
        other = train(tools, text_of(schedule, ranks, chunks=chunks, export="out", evaluation=held), *options)
        check(shows(other) == shows(reference), f"{schedule} on {ranks} ranks differs")
        check(vime.tensors(tools.folder / "out") == parameters, f"{schedule} on {ranks} ranks: parameters differ")
    print("short steps and evaluations: the same bits")


def held_out_loss(tools):
    """The held-out loss is the loss of a step that learns from that text, all 16 windows of it."""
    (tools.folder / "all.txt").write_text((tools.folder / "held.txt").read_text()[:16 * 33])
    trained = train(tools, text_of("1f1b", 2, steps=4, export="sft", evaluation="text: all.txt, every: 4 steps"))
    text = text_of("gpipe", 1, steps=1, tail="join").replace("corpus.txt", "all.txt")
    text = text.replace(vime.TINY, "{checkpoint: sft}")
    step = train(tools, text)["history"][0]
    (held,) = trained["evaluations"]
    check(abs(step["loss"] - held["loss"]) < 1e-6 * step["loss"], f"{held['loss']} held out, {step['loss']} trained")
    check(held["tokens"] == step["tokens"], f"{held['tokens']} tokens")
    print("held-out loss: as computed by a training step")


def early_end(tools):
    target = train(tools, text_of("1f1b", 2, steps=9, export="out", evaluation="text: held.txt, every: 2 steps, target: 99"))
    check(len(target["history"]) == 2 and target["evaluations"][-1]["ends_run"], target["evaluations"])
    check(target["planned_steps"] == 9 and target["exported_to"], "an early end exports too")
    text = text_of("1f1b", 2, steps=30, evaluation="text: held.txt, every: 1 steps, patience: 2")
    worse = train(tools, text.replace("lr: 1.0e-3", "lr: 0.5"))
    losses = [one["loss"] for one in worse["evaluations"]]
    best = losses.index(min(losses))
    check(len(losses) == best + 3 and len(worse["history"]) == len(losses), losses)
    print("early end: at the target, and when patience is over")


def learning_rates(tools):
    summary = train(tools, text_of("1f1b", 2, steps=8, optimizer=", warmup: 2 steps, decay: cosine, floor: 1.0e-4"))
    for step, found in enumerate(summary["history"]):
        gone = (step - 2) / 6
        expected = 1e-3 * (step + 1) / 2 if step < 2 else 1e-4 + 9e-4 * (1 + math.cos(math.pi * gone)) / 2
        check(abs(found["learning_rate"] - expected) < 1e-15, f"step {step}: {found['learning_rate']}, not {expected}")
    print("learning rates: as the formula says")


def skipped_steps(tools):
    """An update that makes everything infinite; from then on nothing changes."""
    exported = {}
    for steps in (1, 4):
        text = text_of("1f1b", 2, steps=steps, export="out").replace("lr: 1.0e-3", "lr: 1.0e11")
        plan = tools.compile(text)
        summary = tools.train(plan)
        exported[steps] = vime.tensors(tools.folder / "out")
        check(summary["skipped_steps"] == steps - 1, summary["history"])
        check([step["skipped"] for step in summary["history"]] == [False] + [True] * (steps - 1), summary["history"])
    check(exported[1] == exported[4], "a skipped step has changed a parameter")
    shown = tools.run("vime-exec", plan)
    check("warning: the gradients of step 2 are not finite" in shown.stderr + shown.stdout, shown.stderr)
    print("skipped steps: counted, shown, without a trace in the parameters")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tools = vime.Tools(sys.argv[1], folder)
        vime.corpus(tools.folder, WINDOWS * 33)
        whole = (tools.folder / "corpus.txt").read_text()
        vime.corpus(tools.folder, 1 << 14)
        (tools.folder / "held.txt").write_text((tools.folder / "corpus.txt").read_text()[-20 * 33:][:20 * 33])
        (tools.folder / "corpus.txt").write_text(whole)
        short_steps(tools)
        held_out_loss(tools)
        early_end(tools)
        learning_rates(tools)
        skipped_steps(tools)


if __name__ == "__main__":
    main()
