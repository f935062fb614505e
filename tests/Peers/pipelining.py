"""The runtime of PyTorch's torch.distributed.pipelining runs our orders, and finds the gradients that we find.

    pipelining.py FOLDER_OF_BINARIES

Every order that PyTorch has a word for, and one from a table, on 2 and 4 processes over Gloo, with the same float64 weights
and samples: once from its tasks alone, which PyTorch lowers itself, once from the table with the transfers that we have put
in. Compared are the loss, the gradient of every parameter, and what PyTorch's lowering makes of the tasks: it must be what
`vimec order --with=shards` prints, cell by cell.

Our gradients: with `betas: [0.5, 0.5]` the first moments of a checkpoint behind the first step are half of them, exactly.
"""

import datetime
import json
import multiprocessing
import pathlib
import re
import sys
import tempfile

import torch
import torch.distributed as distributed
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch.distributed.pipelining import PipelineStage, schedules

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "EndToEnd"))
import vime  # noqa: E402
from decoder_stage import Model  # noqa: E402

MODEL = "{family: llama, layers: 8, hidden: 32, heads: 4, kv_heads: 2, ffn: 88, vocab: 256, dtype: float64}"
MICROBATCHES, SAMPLES, SEQUENCE = 8, 2, 32
# Relative to the largest gradient of a tensor. Float64 rounds to 1.1e-16; both add up the products of 512 tokens, in other
# sequences. Found are 5e-16 to 8e-16.
TOLERANCE = 1e-14
BEYOND = {"chimera": "two copies", "dualpipe": "two copies", "seq1f1b": "slices"}
# On 2 ranks: three stages on rank 0, two on rank 1, neighbours among them; weight gradients at the end.
UNEVEN = "uneven.csv"


def write_uneven(folder):
    def tasks(*kinds):
        return [f"{kind}{microbatch}" for microbatch in range(MICROBATCHES) for kind in kinds]

    rows = [tasks("0F", "1F") + tasks("4F", "4I") + tasks("1B", "0I") + tasks("4W", "0W"),
            tasks("2F", "3F") + tasks("3I", "3W", "2B")]
    (folder / UNEVEN).write_text("".join(",".join(row) + "\n" for row in rows))


def orders_of(tools, ranks):
    """All names that train, but those with two copies and slices; and a table that is nobody's."""
    listed = json.loads(tools.run("vimec", "schedules", "--json").stdout)["schedules"]
    names = [entry["name"] for entry in listed if entry["name"] != "forward-only" and entry["name"] not in BEYOND]
    return names + [UNEVEN] * (ranks == 2)


def table(tools, name, ranks, *options, expect=0):
    shape = [] if name == UNEVEN else ["--ranks", ranks, "--microbatches", MICROBATCHES]
    slices = ["--slices", 2] if name == "seq1f1b" else []
    return tools.run("vimec", "order", name, *shape, *slices, "--format=csv", *options, expect=expect)


def our_step(tools, name, ranks):
    """Loss and gradients of a step from the weights in `start`."""
    saved = f"saved-{name}-{ranks}"
    layout = "layout: [1, 2, 2, 2, 1]" if name == UNEVEN else None
    job = vime.job(name, ranks, steps=1, model="{checkpoint: start, dtype: float64}", microbatches=MICROBATCHES,
                   samples=SAMPLES, sequence=SEQUENCE, pipeline=layout).replace("clip: 1.0", "clip: 0, betas: [0.5, 0.5]")
    summary = tools.train(tools.compile(job + f"checkpoint: {{dir: {saved}, every: 1 step}}\n", f"{name}-{ranks}"))
    moments = {}
    for path in (tools.folder / saved / "step-000001").glob("*.safetensors"):
        moments.update({key.removesuffix(".exp_avg"): 2 * tensor for key, tensor in load_file(path).items()
                        if key.endswith(".exp_avg")})
    return summary["history"][0]["loss"], moments


def samples(folder):
    """Tokens and labels of all samples of the step."""
    text = bytearray((folder / "corpus.txt").read_bytes())
    windows = torch.frombuffer(text, dtype=torch.uint8).view(-1, SEQUENCE + 1).long()
    assert len(windows) == MICROBATCHES * SAMPLES
    return windows[:, :-1], windows[:, 1:]


def loss_of_microbatch(logits, labels):
    """Its part of the step's mean."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum") / (MICROBATCHES * SAMPLES * SEQUENCE)


def their_step(model, order, table_format, folder, rank, ranks):
    """Writes what this rank has of the step."""
    rows = (folder / order).read_text().splitlines()
    stages = max(stage for row in rows for stage in stages_in(row)) + 1
    mine = sorted(stages_in(rows[rank]))
    modules = [model.stage(index, stages) for index in mine]
    pipeline = [PipelineStage(module, index, stages, torch.device("cpu")) for module, index in zip(modules, mine)]
    schedule = schedules._PipelineScheduleRuntime(pipeline, MICROBATCHES, loss_fn=loss_of_microbatch, scale_grads=False)
    schedule._load_csv(str(folder / order), format=table_format)
    if table_format == "compute_only" and rank == 0:
        schedule._dump_csv(str(folder / f"{order}.lowered"))
    tokens, labels = samples(folder)
    losses = []
    schedule.step(*([tokens] if 0 in mine else []), **({"target": labels, "losses": losses} if stages - 1 in mine else {}))
    found = {name: gradient for module in modules for name, gradient in module.gradients().items()}
    if losses:
        found["loss"] = torch.stack(losses).sum()
    save_file(found, folder / f"{order}.{table_format}.{rank}")


def stages_in(row):
    return {int(stage) for stage in re.findall(r"(\d+)[A-Z]", row)}


def run_rank(orders, folder, rank, ranks):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/store-{ranks}", rank=rank, world_size=ranks,
                                   timeout=datetime.timedelta(seconds=120))
    model = Model(folder / "start")
    for order, table_format in orders:
        their_step(model, order, table_format, folder, rank, ranks)
    distributed.destroy_process_group()


def run_theirs(orders, folder, ranks):
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=run_rank, args=(orders, folder, rank, ranks)) for rank in range(ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    failed = [rank for rank, process in enumerate(processes) if process.exitcode]
    assert not failed, f"rank {failed} of {ranks} failed in PyTorch"


def distance(ours, theirs):
    """The largest, relative to the largest gradient of the tensor."""
    assert ours.keys() == theirs.keys(), sorted(ours.keys() ^ theirs.keys())
    return max(((ours[name] - theirs[name]).abs().max() / ours[name].abs().max()).item() for name in ours)


def compare(tools, name, ranks, ours):
    worst = []
    for order, table_format in [(f"{name}-{ranks}.csv", "compute_only"), (f"{name}-{ranks}-transfers.csv", "compute_comms")]:
        theirs = {}
        for rank in range(ranks):
            theirs.update(load_file(tools.folder / f"{order}.{table_format}.{rank}"))
        loss = theirs.pop("loss").item()
        assert abs(loss - ours[0]) <= TOLERANCE * ours[0], f"{order}: loss {loss!r}, ours {ours[0]!r}"
        worst.append(distance(ours[1], theirs))
        assert worst[-1] < TOLERANCE, f"{order}: gradients differ by {worst[-1]:.2g}"
        spoiled = {key: tensor * (1 + 1e-13) for key, tensor in theirs.items()}
        assert distance(ours[1], spoiled) > TOLERANCE, "the comparison cannot fail"
    lowered = (tools.folder / f"{name}-{ranks}.csv.lowered").read_bytes().decode().splitlines()
    expected = table(tools, name, ranks, "--with=shards").stdout.splitlines()
    assert lowered == expected, f"{name} on {ranks} ranks: PyTorch lowers it to\n{lowered}\nand we to\n{expected}"
    print(f"{name:16} {ranks} ranks: {len(ours[1])} gradients as PyTorch {torch.__version__} finds them, to {max(worst):.1e}; "
          f"{sum(row.count(',') + 1 for row in expected)} cells lowered alike")


def refuses_what_pytorch_has_no_word_for(tools):
    for name, reason in BEYOND.items():
        said = table(tools, name, 4, "--with=transfers", expect=1).stderr
        assert "is beyond PyTorch's notation" in said and reason in said, said


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tools = vime.Tools(pathlib.Path(sys.argv[1]).resolve(), folder)
        vime.corpus(folder, MICROBATCHES * SAMPLES * (SEQUENCE + 1))
        start = vime.job("1f1b", 2, steps=1, model=MODEL, export="start", samples=SAMPLES, sequence=SEQUENCE)
        tools.train(tools.compile(start))
        refuses_what_pytorch_has_no_word_for(tools)
        write_uneven(folder)
        for ranks in (2, 4):
            orders, theirs = orders_of(tools, ranks), []
            for order in orders:
                for suffix, options, table_format in [("", [], "compute_only"),
                                                      ("-transfers", ["--with=transfers"], "compute_comms")]:
                    (folder / f"{order}-{ranks}{suffix}.csv").write_text(table(tools, order, ranks, *options).stdout)
                    theirs.append((f"{order}-{ranks}{suffix}.csv", table_format))
            run_theirs(theirs, folder, ranks)
            for order in orders:
                compare(tools, order, ranks, our_step(tools, order, ranks))


if __name__ == "__main__":
    main()
