"""The lines of the table, part by part. Each part is a function that yields lines as soon as it has them."""

import json
import statistics

import vime
from line import Line, against
from measure import spread
from round_parts import rounds

# Orders that PyTorch has too: its class, and our chunks.
ORDERS = {"gpipe": ("ScheduleGPipe", None), "1f1b": ("Schedule1F1B", None),
          "interleaved": ("ScheduleInterleaved1F1B", 2), "zb-v": ("ScheduleZBVZeroBubble", 2)}
# The decoder of peers/decoder.py: hidden, layers, ffn; and targets of CPU and wall of a pipeline, and of CPU of one process.
DECODERS = {256: (8, 688, 0.5, 0.55, 0.5), 64: (8, 172, 0.35, 0.4, 0.35)}
median = statistics.median


def decoder(hidden):
    layers, ffn = DECODERS[hidden][:2]
    return f"{{family: llama, layers: {layers}, hidden: {hidden}, heads: 8, ffn: {ffn}, vocab: 256}}"


# ---- an action of a null plan: its own work, its waits and the way to the next one (null_plan_bench.cpp) ----
def null(measure, orders):
    for ranks, target in ((2, 100), (4, None)):
        plan = measure.tools.compile(vime.job("1f1b", ranks, microbatches=64, samples=1, sequence=16, steps=1000,
                                              model=f"{{family: null, layers: {ranks}}}"), f"null{ranks}")
        (found,) = measure.repeated(lambda: measure.bench("null_plan_bench", plan, measure.folder))
        for what, goal in (("p50", target), ("p99", None), ("mean", None)):
            values = [one[what] for one in found]
            yield Line(f"null plan, {ranks} ranks, local: ns per action, {what}", spread(values, "ns", 0), "", None, goal,
                       median(values))


# ---- a stage that does almost nothing: CPU of all ranks per task, send or receive ----
def tiny(measure, orders):
    for ranks, local_target in ((2, 1 / 50), (4, 1 / 20)):
        for order in orders:
            kind, chunks = ORDERS[order]
            stages = ranks * (chunks or 1)
            model = f"{{family: llama, layers: {stages}, hidden: 8, heads: 1, ffn: 8, vocab: 256}}"
            plans = measure.plans("tiny", (20, 420), order, ranks, chunks=chunks, microbatches=32, samples=1, sequence=2,
                                  model=model)
            actions = measure.transfers_and_tasks(plans[20])
            ours = {transport: [] for transport in ("gloo", "local")}
            theirs = []
            for _ in range(measure.rounds):
                for transport, found in ours.items():
                    found.append(measure.step(plans, "--transport", transport)[1] / actions * 1e6)
                theirs.append(measure.peer("dispatch.py", kind, 32, 8, 20, ranks=ranks)["cpu_us_per_action"])
            for transport, target in (("gloo", 1 / 5), ("local", local_target)):
                yield against(f"tiny stage, {order}, {ranks} ranks, {transport}: CPU per action", ours[transport], theirs,
                              "µs", 2, target)


# ---- from YAML to a proved plan.bin, against PyTorch's lowering of the same order, which proves and writes nothing ----
def compile_large(measure, orders):
    ranks, microbatches, chunks = 64, 512, 4
    model = f"{{family: llama, layers: {ranks * chunks}, hidden: 64, heads: 4, ffn: 172, vocab: 256}}"
    (measure.folder / "large.yaml").write_text(
        vime.job("interleaved", ranks, chunks=chunks, microbatches=microbatches, samples=1, model=model))
    ours, theirs, starts = measure.repeated(lambda: measure.timed("vimec", "large.yaml", "-o", "large.bin")[0],
                                            lambda: measure.peer("lowering.py", ranks, microbatches, chunks)["total_s"],
                                            lambda: measure.timed("vimec", "--version")[0] * 1e3)
    yield against(f"compile, interleaved p={ranks} m={microbatches} v={chunks}", ours, theirs, "s", 2, 0.1)
    yield Line("vimec --version", spread(starts, "ms", 0), "", None, 60, median(starts))


# ---- every order from its rule to a proved plan, in one process (order_bench.cpp): CPU of a million actions ----
# PyTorch's orders, and its own lowering of their tables: shards, which take most of it, reductions, transfers; no buffers, no
# waits, no proof. Of the zero-bubble authors' generators the seconds that one core was measured to take for so many ranks
# and microbatches, for the order alone.
LOWERED_BY_PYTORCH = ("gpipe", "1f1b", "looped-bfs", "interleaved", "interleaved-zb", "zb-v", "dualpipe-v")
PUBLISHED = {"zb-1p": 3.8, "zb-2p": 4.0, "zb-v": 8.7, "1f1b-v": 2.4, "dualpipe": 0.40}
SEARCHED = ("zb-1p", "zb-2p", "v-half", "v-min", "v-auto")


def every_order(measure, orders):
    ranks, microbatches = 64, 512
    shape = ("--ranks", str(ranks), "--microbatches", str(microbatches))
    for order in json.loads(measure.tools.run("vimec", "schedules", "--json").stdout)["schedules"]:
        name = order["name"]
        if not order["trains"] or "--slices" in order["options"]:
            continue
        chunks = min(2, order["chunks"]["most"])
        found = measure.repeated(lambda: measure.bench("order_bench", name, str(ranks), str(microbatches), str(chunks)))[0]
        seconds = [one["generate_s"] + one["lower_s"] + one["prove_s"] for one in found]
        per_million = [second / found[0]["actions"] * 1e6 for second in seconds]
        target = 10 if name in SEARCHED else 0.5
        other = f"{PUBLISHED[name]} s measured, the order alone" if name in PUBLISHED else ""
        yield Line(f"{name}, p={ranks} m={microbatches} v={chunks}, {found[0]['actions'] / 1e6:.2f} M actions: CPU per million",
                   spread(per_million, "s", 3), other, None, target, median(per_million))
        if name in LOWERED_BY_PYTORCH:
            table = measure.folder / f"{name}.csv"
            table.write_text(measure.tools.run("vimec", "order", name, *shape, "--chunks", str(chunks), "--format=csv").stdout)
            theirs = measure.peer("lowering.py", table)
            ours = [one["lower_s"] + one["prove_s"] for one in found]
            line = against(f"{name}: CPU of lowering and proof, there lowering alone", ours, [theirs["cpu_s"]], "s", 3, 0.1)
            line.other = f"{theirs['cpu_s']:.1f} s, {theirs['send_recv_cpu_s']:.1f} of it transfers"
            yield line


# ---- the decoder in one process, without a pipeline: CPU of a step ----
def single(measure, orders):
    for hidden, (layers, ffn, _, _, target) in DECODERS.items():
        plans = measure.plans("single", (2, 10), "gpipe", 1, samples=4, sequence=128, model=decoder(hidden))
        ours, theirs = measure.repeated(
            lambda: measure.step(plans)[1] * 1e3,
            lambda: measure.peer("decoder.py", "single", 8, 8, hidden, layers, ffn)["cpu_ms"])
        yield against(f"decoder, hidden {hidden}, one process: CPU of a step", ours, theirs, "ms", 0, target)


# ---- the same with the kernels of LibTorch, which PyTorch's loop uses too ----
def libtorch(measure, orders):
    layers, ffn = DECODERS[256][:2]
    plans = measure.plans("libtorch", (2, 10), "gpipe", 1, samples=4, sequence=128, model=decoder(256),
                          options=("--set", "cluster.kernels=libtorch"))
    ours, theirs = measure.repeated(lambda: measure.step(plans)[1] * 1e3,
                                    lambda: measure.peer("decoder.py", "single", 8, 8, 256, layers, ffn)["cpu_ms"])
    yield against("decoder, hidden 256, one process, libtorch kernels: CPU of a step", ours, theirs, "ms", 0, 0.9)


# ---- what the pipeline adds: CPU of four ranks over that of one, the same tasks in the same order, the same kernels ----
def overhead(measure, orders):
    plans = {ranks: measure.plans(f"overhead{ranks}", (2, 10), "1f1b", ranks, samples=4, sequence=128, model=decoder(256))
             for ranks in (1, 4)}
    for transport in ("local", "gloo"):
        one, four = measure.repeated(lambda: measure.step(plans[1])[1] * 1e3,
                                     lambda: measure.step(plans[4], "--transport", transport)[1] * 1e3)
        yield against(f"pipeline overhead, hidden 256, 1f1b, {transport}: CPU of 4 ranks over 1", four, one, "ms", 0, 1.03)


# ---- tasks that sleep: the step against the one computed from their declared durations ----
def sleep(measure, orders):
    unit = 0.02  # seconds of a forward, an input gradient, a weight gradient
    model = f"{{family: sleep, layers: 8, forward: {unit}s, backward_input: {unit}s, backward_weight: {unit}s}}"
    for order, chunks in (*((order, ORDERS[order][1]) for order in orders), ("zb-h1", None)):
        plans = measure.plans("sleep", (1, 4), order, 4, chunks=chunks, samples=1, sequence=16, model=model)
        computed = measure.step_units(plans[1]) * unit
        for transport in ("local", "gloo"):
            (ours,) = measure.repeated(lambda: measure.step(plans, "--transport", transport)[0] * 1e3)
            yield Line(f"sleep stages, {order}, 4 ranks, {transport}: step over computed step", spread(ours, "ms", 1),
                       f"{computed * 1e3:.1f} ms, computed", median(ours) / (computed * 1e3), 1.03)


# ---- steps that commit early: tasks that sleep, against the period that the order lets them have ----
def commits(measure, orders):
    unit = 0.02  # seconds of a forward, an input gradient, a weight gradient
    model = f"{{family: sleep, layers: 8, forward: {unit}s, backward_input: {unit}s, backward_weight: {unit}s}}"
    for order in ("zb-h1", "zb-2p"):
        plans = {commit: measure.plans(commit, (2, 12), order, 4, samples=1, sequence=16, model=model,
                                       options=("--set", f"optimizer.commit={commit}"))
                 for commit in ("barrier", "post_validated")}
        computed = measure.period(plans["post_validated"][12])
        for transport in ("local", "gloo"):
            barrier, early = measure.repeated(*(
                lambda plan=plan: measure.step(plan, "--transport", transport)[0] * 1e3 for plan in plans.values()))
            yield Line(f"sleep stages, {order}, 4 ranks, {transport}: step that commits early over computed step",
                       spread(early, "ms", 1), f"{computed:.1f} ms, computed; with a barrier {spread(barrier, 'ms', 1)}",
                       median(early) / computed, 1.03)


# ---- the decoder on four ranks over Gloo: CPU of all ranks and wall of a step ----
def pipeline(measure, orders):
    for hidden, (layers, ffn, cpu_target, wall_target, _) in DECODERS.items():
        for order in orders:
            kind, chunks = ORDERS[order]
            plans = measure.plans("pipeline", (2, 8), order, 4, chunks=chunks, samples=4, sequence=128,
                                  model=decoder(hidden))
            ours, theirs = measure.repeated(lambda: measure.step(plans, "--transport", "gloo"),
                                            lambda: measure.peer("decoder.py", kind, 8, 6, hidden, layers, ffn, ranks=4))
            name = f"decoder, hidden {hidden}, {order}, 4 ranks, gloo"
            yield against(f"{name}: CPU of a step", [cpu * 1e3 for _, cpu in ours],
                          [one["cpu_ms_all_ranks"] for one in theirs], "ms", 0, cpu_target)
            yield against(f"{name}: wall of a step", [wall * 1e3 for wall, _ in ours],
                          [one["step_ms"] for one in theirs], "ms", 0, wall_target)


# ---- generation: 16 sequences of 100 tokens behind prompts of 16, one thread (engine_bench.cpp) ----
GENERATORS = ((8, 256, 688), (4, 128, 344))  # layers, hidden, ffn
SEQUENCES, NEW = 16, 100


def engine(measure, orders):
    for layers, hidden, ffn in GENERATORS:
        sizes = [str(number) for number in (layers, hidden, ffn, SEQUENCES, NEW, 3)]

        def rate(found):
            return found["tokens"] / median([one["all_s"] for one in found["rounds"]])

        ours, theirs = measure.repeated(lambda: rate(measure.bench("engine_bench", *sizes)),
                                        lambda: rate(measure.peer("generate.py", *sizes)))
        yield Line(f"engine, {layers} layers, hidden {hidden}: tokens per second, peer's over ours", spread(ours, "/s", 0),
                   spread(theirs, "/s", 0), median(theirs) / median(ours), 0.5)


# ---- a machine calibrated on gpipe, 2 ranks, foretells a step of others: median of 20 steps ----
FORETOLD = (("gpipe", None), ("1f1b", None), ("zb-h1", None), ("interleaved", 2), ("zb-v", 2))


def foretold(measure, orders):
    unit = 0.02  # seconds of a forward, an input gradient, a weight gradient
    models = (("sleep stages", f"{{family: sleep, layers: 8, forward: {unit}s, backward_input: {unit}s, backward_weight: {unit}s}}",
               dict(samples=1, sequence=16), 0.03),
              ("decoder, hidden 256", decoder(256), dict(samples=4, sequence=128), 0.1))
    for name, model, shape, target in models:
        machine = measure.calibrate(vime.job("gpipe", 2, model=model, **shape), name.split(",")[0].replace(" ", "-"))
        # Four ranks on two cores share them: how much they hold each other up is more than a share, so it is told alone.
        for ranks in (2, 4):
            for order, chunks in FORETOLD:
                plan = measure.tools.compile(vime.job(order, ranks, chunks=chunks, steps=21, model=model, **shape), "foretold")
                steps = [step["seconds"] * 1e3 for step in measure.tools.train(plan, "--transport", "gloo")["history"][1:]]
                expected = measure.period(plan, "--machine", machine)
                error = expected / median(steps) - 1
                yield Line(f"{name}, {order}, {ranks} ranks, gloo: step, foretold", spread(steps, "ms", 1),
                           f"{expected:.1f} ms, {error:+.1%}", None, target if ranks == 2 else None, abs(error))


PARTS = {"null": null, "tiny": tiny, "compile": compile_large, "orders": every_order, "single": single, "libtorch": libtorch,
         "overhead": overhead, "sleep": sleep, "commits": commits, "foretold": foretold, "pipeline": pipeline,
         "engine": engine, "rounds": rounds}
