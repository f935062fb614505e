"""Every order, number of ranks and transport trains to the same bits.

    bit_equality.py FOLDER_OF_BINARIES

Losses and gradient norms of 20 steps and every exported parameter are compared bit for bit with one rank under GPipe. So
are uneven stages, other placements and orders from tables; of an order whose weight gradients do not add up in ascending
microbatch the bits are its own, the same on every transport and from a table, and near the others' as two replicas are.
"""

import shutil
import sys
import tempfile
import pathlib

import vime

ORDERS = [("gpipe", None), ("1f1b", None), ("interleaved", 2), ("zb-h1", None), ("zb-v", 2), ("v-half", 2), ("v-min", 2),
          ("zb-1p", None), ("zb-2p", None), ("v-auto", 2),
          ("eager-1f1b", None), ("grouped", 2), ("1f1b-v", 2), ("hanayo", 2), ("zb-h2", None), ("interleaved-zb", 2),
          ("dualpipe-v", 2)]
EVERYWHERE = {"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v"}  # the others: local, and rendezvous
RANKS = [1, 2, 4]
RUNS = [("local", "avx2"), ("gloo", "avx2"), ("local", "avx512"), ("gloo", "avx512"), ("rendezvous", "auto")]
SPLITS = [  # schedule, ranks, what `pipeline` says besides
    ("1f1b", 4, "layout: [3, 2, 2, 1]"),
    ("interleaved", 2, "chunks: 2, layout: [1, 4, 2, 1]"),
    ("zb-v", 2, "layout: [1, 1, 1, 5], placement: [1, 0, 0, 1]"),
    ("1f1b", 4, "placement: [2, 0, 3, 1]"),
    ("interleaved", 2, "chunks: 2, group: 4, overlap: true"),
    ("grouped", 4, "chunks: 2, group: 3"),
    ("eager-1f1b", 4, "overlap: true"),
    ("interleaved", 4, "chunks: 2, receive_slots: 1"),
    ("zb-v", 4, "receive_slots: 4"),
    ("1f1b", 4, "receive_slots: [1, 4, 2, 3]"),
    ("interleaved", 2, "chunks: 2, costs: [10, 10, 10, 5]"),
    ("zb-h1", 4, "merge_backwards: none"),
    ("zb-h1", 4, "merge_backwards: all"),
    ("zb-v", 2, "merge_backwards: none"),
    ("zb-v", 4, "merge_backwards: all"),
    ("hanayo", 2, "chunks: 2, memory: 3"),
    ("hanayo", 2, "chunks: 4, placement: [1, 0, 0, 1, 1, 0, 0, 1]"),
]
TABLES = ["DualPipeV_pp4_v2_mb8.comms", "2.5/InterleavedZeroBubble_pp2_v4_mb8"]
DESCENDING = "LoopedBFS_pp2_v2_mb8"
GOLDEN = pathlib.Path(__file__).parent.parent / "schedules" / "golden" / "pytorch.txt"
# Models with more than a Llama: one rank under gpipe that keeps its layers, against these, which recompute them or not.
MODELS = {
    "qwen2, tied": "{family: qwen2, layers: 8, hidden: 32, heads: 4, kv_heads: 2, ffn: 88, vocab: 256, tied: true}",
    "qwen3": "{family: qwen3, layers: 8, hidden: 32, heads: 4, kv_heads: 2, head_width: 12, ffn: 88, vocab: 256}",
}
MODEL_RUNS = [("gpipe", None, 1, True, "local"), ("1f1b", None, 4, True, "gloo"), ("interleaved", 2, 2, False, "local"),
              ("zb-h1", None, 4, True, "local"), ("zb-v", 2, 2, False, "rendezvous:merged")]
# Weights and activations of bfloat16: as near to float32 as 8 bits of a number can be, and never equal to it.
NARROW = vime.TINY.replace("float32", "bfloat16")
NARROW_MODELS = {"bfloat16": NARROW, "bfloat16, qwen3, tied": MODELS["qwen3"].replace("vocab: 256", "vocab: 256, tied: true, dtype: bfloat16")}
NARROW_RUNS = [("gpipe", None, 4, True, "local", "avx2"), ("1f1b", None, 4, True, "gloo", "auto"),
               ("1f1b", None, 2, False, "rendezvous:merged", "avx2"), ("interleaved", 2, 2, False, "local", "auto"),
               ("zb-h1", None, 4, True, "local", "avx2"), ("zb-v", 2, 2, False, "gloo", "auto"),
               ("zb-v", 2, 4, True, "rendezvous:7", "auto")]
NARROW_DISTANCE = 2e-3  # of a loss of 20 steps, relative; 4.3e-4 were measured
MACHINE = pathlib.Path("/proc/cpuinfo")


def runs(schedule, has_avx512):
    """Transports and instructions under which an order is trained: gloo with the instructions that are not the default
    of the machine for one order alone; rendezvous with all queues of a rank merged into one."""
    for transport, isa in RUNS:
        if isa == "avx512" and not has_avx512:
            continue
        if schedule not in EVERYWHERE and (transport == "gloo" or isa == "avx2"):
            continue
        if (transport, isa) == ("gloo", "avx2") and has_avx512 and schedule != "1f1b":
            continue
        yield transport + (":merged" if transport == "rendezvous" else ""), isa


def result(tools, schedule, chunks, ranks, *options, more=None, **model):
    """What a run leaves: losses and norms in full precision, and the exported tensors."""
    export = tools.folder / "out"
    shutil.rmtree(export, ignore_errors=True)
    plan = tools.compile(vime.job(schedule, ranks, chunks=chunks, export="out", pipeline=more, **model))
    summary = tools.train(plan, *options)
    return [(step["loss"], step["gradient_norm"]) for step in summary["history"]], vime.tensors(export)


def table(tools, name):
    """A table of PyTorch's as a file beside the job; its path and number of ranks."""
    rows = GOLDEN.read_text().split(f"# {name}\n")[1].split("#")[0]
    path = tools.folder / (name.replace("/", "-") + ".csv")
    path.write_text(rows)
    return path.name, rows.count("\n")


def special_runs(tools):
    """Name, and what a run leaves, of everything that must not change the bits."""
    for schedule, ranks, more in SPLITS:
        yield f"{schedule}, {more}", result(tools, schedule, None, ranks, more=more)
    for name in TABLES:
        path, ranks = table(tools, name)
        yield f"table {name}", result(tools, path, None, ranks)


def descending_is_its_own(tools, reference):
    """Another order of the same sums: repeatable, the same from a table, and as near as dp = 2 is to dp = 1
    (replicas.py)."""
    path, ranks = table(tools, DESCENDING)
    first, second = (result(tools, path, None, ranks, "--transport", transport) for transport in ("local", "rendezvous"))
    named = result(tools, "looped-bfs", 2, ranks)
    same = not list(differences(first, second)) and not list(differences(first, named))
    other = bool(list(differences(reference, first)))
    distances = [abs(a[0] - b[0]) / b[0] for a, b in zip(first[0], reference[0], strict=True)]
    print(f"table {DESCENDING}: {'the same bits twice, and as looped-bfs' if same else 'DIFFERS from itself'}, "
          f"{'others' if other else 'NOT others'} than ascending sums, losses of 3 steps {max(distances[:3]):.1e} apart, "
          f"of all {max(distances):.1e}")
    return same and other and max(distances[:3]) < 1e-6 and max(distances) < 1e-4


def differences(reference, other):
    for step, (expected, found) in enumerate(zip(reference[0], other[0], strict=True)):
        if expected != found:
            yield f"step {step}: loss and norm {found}, expected {expected}"
    for name in sorted(reference[1].keys() | other[1].keys()):
        if reference[1].get(name) != other[1].get(name):
            yield f"tensor {name} differs"


def judge(reference, found, what):
    """Whether a run has the reference's bits; says so."""
    wrong = list(differences(reference, found))
    print(f"{what} " + ("bit-equal" if not wrong else f"DIFFERS: {wrong[0]} and {len(wrong) - 1} more"), flush=True)
    return not wrong


def other_models(tools):
    """For each run of another model whether it has the bits of one rank under gpipe."""
    for name, model in MODELS.items():
        reference = result(tools, "gpipe", None, 1, model=model)
        for schedule, chunks, ranks, recompute, transport in MODEL_RUNS:
            found = result(tools, schedule, chunks, ranks, "--transport", transport, model=model, recompute=recompute)
            how = "recomputed" if recompute else "kept"
            yield judge(reference, found, f"{name:12} {schedule:12} {ranks} ranks  {transport:17} {how:10}")


def narrow_models(tools, wide):
    """For each run of a bfloat16 model whether it has the bits of one rank under gpipe; and whether that one is near
    float32, `wide`."""
    for name, model in NARROW_MODELS.items():
        reference = result(tools, "gpipe", None, 1, model=model)
        for schedule, chunks, ranks, recompute, transport, isa in NARROW_RUNS:
            found = result(tools, schedule, chunks, ranks, "--transport", transport, "--isa", isa, model=model,
                           recompute=recompute)
            yield judge(reference, found, f"{name:22} {schedule:12} {ranks} ranks  {transport:17} {isa:6}")
        types = {dtype for dtype, _, _ in reference[1].values()}
        if types != {"BF16"}:
            print(f"{name}: the export is of {types}")
            yield False
        if model == NARROW:
            distance = max(abs(a[0] / b[0] - 1) for a, b in zip(reference[0], wide[0], strict=True))
            print(f"{name}: losses {distance:.1e} from those of float32, at most {NARROW_DISTANCE:.0e}")
            yield 0 < distance < NARROW_DISTANCE


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    has_avx512 = "avx512f" in MACHINE.read_text()
    if not has_avx512:
        print("no AVX-512 here: the comparison of the two builds is left out", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tools = vime.Tools(binaries, folder)
        vime.corpus(tools.folder)
        reference = result(tools, "gpipe", None, 1, "--isa", "avx2")
        losses = [loss for loss, _ in reference[0]]
        assert len(losses) == 20 and losses[-1] < losses[0] - 0.3, f"the loss does not fall: {losses}"
        failures, count = 0, 0
        for schedule, chunks in ORDERS:
            for ranks in RANKS:
                for transport, isa in runs(schedule, has_avx512):
                    found = result(tools, schedule, chunks, ranks, "--transport", transport, "--isa", isa)
                    count += 1
                    failures += not judge(reference, found, f"{schedule:12} {ranks} ranks  {transport:17} {isa:6}")
        for name, found in special_runs(tools):
            count += 1
            failures += not judge(reference, found, name)
        failures += not descending_is_its_own(tools, reference)
        for equal in other_models(tools):
            count += 1
            failures += not equal
        for equal in narrow_models(tools, reference):
            count += 1
            failures += not equal
        again = result(tools, "1f1b", None, 4)
        repeats = not list(differences(reference, again))
        print("repeated run bit-equal" if repeats else "a repeated run DIFFERS")
    print(f"{count - failures} of {count} runs bit-equal to one rank under gpipe, loss {losses[0]:.4f} to {losses[-1]:.4f}")
    sys.exit(1 if failures or not repeats else 0)


if __name__ == "__main__":
    main()
