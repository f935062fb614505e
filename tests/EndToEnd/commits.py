"""A step whose optimizer runs early, and is taken back where the verdict is bad, leaves what a barrier leaves, to the bit.

    commits.py FOLDER_OF_BINARIES

Losses, norms, skipped steps, evaluations and exported parameters are compared under orders, ranks, replicas and transports:
with a clip that no step reaches, one that every step exceeds, and one between; and with steps whose gradients are not
finite. A text of 8 steps has one byte that nowhere else occurs; in the checkpoint that the run starts from its embedding
is infinite. So one step of each epoch is bad, and the others are good.
"""

import json
import math
import shutil
import struct
import sys
import tempfile

import vime

STEPS = 12
RARE = "Z"
WINDOW = 33  # bytes of a sample and its last label
CLIPS = {"never": 1000.0, "always": 0.001}
ORDERS = [  # schedule, chunks, ranks, replicas, transport
    ("1f1b", None, 4, 1, "local"), ("1f1b", None, 2, 1, "gloo"), ("1f1b", None, 2, 2, "rendezvous:merged"),
    ("gpipe", None, 2, 1, "rendezvous:5"), ("eager-1f1b", None, 4, 1, "local"), ("zb-h1", None, 4, 1, "rendezvous"),
    ("zb-h2", None, 4, 1, "gloo"), ("zb-1p", None, 2, 1, "local"), ("zb-2p", None, 4, 1, "local"),
    ("zb-2p", None, 2, 1, "rendezvous:merged"), ("interleaved", 2, 2, 1, "local"), ("zb-v", 2, 4, 1, "rendezvous:merged"),
    ("1f1b", None, 1, 1, "local")]
BEHIND = "eval:      {text: held.txt, every: 3 steps, microbatches: 4}\ncheckpoint: {dir: run.ckpt, every: 4 steps}\n"


def text_of(commit, clip, schedule="1f1b", chunks=None, ranks=2, replicas=1, model="{checkpoint: start}", steps=STEPS):
    text = vime.job(schedule, ranks, chunks=chunks, replicas=replicas, steps=steps, model=model, export="out")
    return text.replace("clip: 1.0}", f"clip: {clip}, commit: {commit}}}")


def left_by(tools, text, *options):
    if "--resume" not in options:
        shutil.rmtree(tools.folder / "run.ckpt", ignore_errors=True)
    summary = tools.train(tools.compile(text), *options)
    steps = [(step["step"], repr(step["loss"]), repr(step["gradient_norm"]), step["learning_rate"], step["tokens"],
              step["skipped"]) for step in summary["history"]]
    evaluations = [(one["step"], repr(one["loss"])) for one in summary["evaluations"]]
    return steps, evaluations, vime.tensors(tools.folder / "out")


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def compare(found, expected, what):
    for step, other in zip(found[0], expected[0], strict=True):
        check(step == other, f"{what}: {step}, with a barrier {other}")
    check(found[1] == expected[1], f"{what}: evaluations {found[1]}, with a barrier {expected[1]}")
    check(found[2] == expected[2], f"{what}: other parameters than with a barrier")


def starting_points(tools):
    """A checkpoint of a few steps, and the same with an infinite embedding of one byte."""
    tools.train(tools.compile(text_of("barrier", 1.0, model=vime.TINY, steps=2)))
    for name in ("start", "infinite"):
        shutil.copytree(tools.folder / "out", tools.folder / name)
    for file in (tools.folder / "infinite").glob("*.safetensors"):
        data = bytearray(file.read_bytes())
        (length,) = struct.unpack_from("<Q", data)
        entry = json.loads(data[8:8 + length]).get("model.embed_tokens.weight")
        if entry:
            row = 4 * entry["shape"][1]
            begin = 8 + length + entry["data_offsets"][0] + ord(RARE) * row
            data[begin:begin + row] = struct.pack("<f", math.inf) * (row // 4)
            file.write_bytes(data)


def references(tools, clip, behind="", **model):
    """What a barrier leaves, by the number of replicas: their sums round differently."""
    return {replicas: left_by(tools, text_of("barrier", clip, replicas=replicas, **model) + behind) for replicas in (1, 2)}


def clips(tools):
    """Clips that no step exceeds, every step, and about every second one."""
    expected = {name: references(tools, clip) for name, clip in CLIPS.items()}
    norms = sorted(float(step[2]) for step in expected["never"][1][0])
    between = (norms[STEPS // 2 - 1] + norms[STEPS // 2]) / 2
    expected["sometimes"] = references(tools, between)
    exceeding = [float(step[2]) > between for step in expected["sometimes"][1][0]]
    check(any(exceeding) and not all(exceeding), f"norms {exceeding}")
    for name, clip in [*CLIPS.items(), ("sometimes", between)]:
        for schedule, chunks, ranks, replicas, transport in ORDERS:
            if name != "sometimes" and schedule not in ("1f1b", "zb-2p", "zb-v"):
                continue
            found = left_by(tools, text_of("post_validated", clip, schedule, chunks, ranks, replicas), "--transport", transport)
            compare(found, expected[name][replicas],
                    f"{schedule} on {ranks} ranks × {replicas}, {transport}, clipped {name}")
        print(f"clipped {name}: the same bits as with a barrier")
    return between


def bad_steps(tools, clip):
    for behind in ("", BEHIND):
        expected = references(tools, clip, behind, model="{checkpoint: infinite}")
        bad = [step[5] for step in expected[1][0]]
        check(any(bad) and not all(bad), f"bad steps {bad}")
        for schedule, chunks, ranks, replicas, transport in ORDERS[:3] + ORDERS[8:10]:
            text = text_of("post_validated", clip, schedule, chunks, ranks, replicas, "{checkpoint: infinite}") + behind
            compare(left_by(tools, text, "--transport", transport), expected[replicas],
                    f"{schedule} on {ranks} ranks × {replicas}, {transport}, steps {[i for i, b in enumerate(bad) if b]} bad")
        print(f"bad steps{', evaluations and checkpoints' if behind else ''}: the same bits as with a barrier")


def resumed(tools, clip):
    """From each checkpoint on; the plan with a barrier, too, goes on from those of the other."""
    text = text_of("post_validated", clip, "zb-h1", ranks=4, model="{checkpoint: infinite}") + BEHIND
    whole = left_by(tools, text)
    for steps, commit in ((4, "post_validated"), (8, "post_validated"), (8, "barrier")):
        left_by(tools, text)
        for saved in (tools.folder / "run.ckpt").iterdir():
            if saved.name > f"step-{steps:06}":
                shutil.rmtree(saved)
        found = left_by(tools, text.replace("post_validated", commit), "--resume")
        check(found[0] == whole[0][steps:], f"{commit} from step {steps}: {found[0]}, expected {whole[0][steps:]}")
        check(found[2] == whole[2], f"{commit} from step {steps}: other parameters")
    print("resumed: the same bits as in one run")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tools = vime.Tools(sys.argv[1], folder)
        vime.corpus(tools.folder, 8 * 16 * WINDOW)
        text = (tools.folder / "corpus.txt").read_text()
        (tools.folder / "corpus.txt").write_text(text[:WINDOW * 20 + 5] + RARE + text[WINDOW * 20 + 6:])
        (tools.folder / "held.txt").write_text(text[:20 * WINDOW])
        starting_points(tools)
        between = clips(tools)
        bad_steps(tools, between)
        resumed(tools, between)


if __name__ == "__main__":
    main()
