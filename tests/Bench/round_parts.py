"""Lines of the table that are about rounds: weight sync, what a round spends beside computing, its engine against one alone."""

import json
import pathlib
import statistics

import bounds
import sync_bytes
from line import Line, against
from measure import spread

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/grpo-arithmetic"
MODEL = "{family: llama, layers: 8, hidden: 256, heads: 8, ffn: 688, vocab: 256}"
PROMPT = 16  # tokens, as engine_bench has
SEQUENCES, NEW = 16, 100
median = statistics.median


def job(trainers, engines, prompts, samples, new, rounds, *, bucket="64MiB", advantage="grpo", rollout=""):
    """Trainers in a pipeline and engines, of the decoder that other parts use; responses have `new` tokens, nothing ends one."""
    return f"""version: 1
name: rounds
cluster:   {{ranks: {trainers + engines}, device: cpu}}
models:
  decoder: {MODEL}
roles:
  actor:   {{model: decoder, ranks: 0-{trainers - 1}, parallel: {{pp: {trainers}}}}}
  rollout: {{model: decoder, ranks: {trainers}-{trainers + engines - 1}, engine: native}}
pipeline:  {{schedule: 1f1b, microbatch: 512 tokens}}
batch:     {{prompts: {prompts}, samples_per_prompt: {samples}, global: {prompts * samples} samples}}
data:      {{prompts: prompts.jsonl, max_prompt: {PROMPT} tokens}}
rollout:   {{max_new: {new} tokens, temperature: 1.0{rollout}}}
reward:    {{rule: regex, pattern: "[a-m]"}}
algorithm: {{advantage: {advantage}, loss: ppo-clip}}
weight_sync: {{bucket: {bucket}}}
optimizer: {{lr: 1.0e-4, clip: 1.0}}
run:       {{rounds: {rounds}, seed: 7}}
"""


def write_prompts(folder):
    lines = [json.dumps({"prompt": f"{number:0{PROMPT}d}", "answer": "a"}) for number in range(64)]
    (folder / "prompts.jsonl").write_text("\n".join(lines) + "\n")


def later(entries, key):
    """Of all rounds but the first, in which ranks still begin."""
    return [entry[key] for entry in entries[1:]]


# ---- weight sync: bytes by the plan, seconds against moving as many bytes by nothing but memcpy and TCP (bounds.py) ----
def sync(measure):
    engines, rounds = 2, 12
    elements = 8 * (4 * 256 * 256 + 3 * 256 * 688 + 2 * 256) + 2 * 256 * 256 + 256
    weights = 4 * elements
    buffers = bounds.Buffers(weights, engines)
    for bucket in ("1MiB", "64MiB"):
        plan = measure.tools.compile(job(2, engines, 2, 2, 4, rounds, bucket=bucket), f"sync-{bucket}")
        (found,) = {one for engine in sync_bytes.received(measure.shown(plan)) for one in engine}
        yield Line(f"sync, buckets of {bucket}: bytes that each of {engines} engines receives", f"{found}",
                   f"{weights}, its weights once", found / weights, 1)
        if found != weights:
            raise AssertionError(f"an engine receives {found} bytes, expected {weights}")
        for transport, bound in (("local", buffers.copied), ("gloo", buffers.sent)):
            ours, theirs = measure.repeated(
                lambda: median(later(measure.tools.train(plan, "--transport", transport)["rounds"], "sync_seconds")) * 1e3,
                lambda: median(bound() for _ in range(rounds)) * 1e3)
            yield against(f"sync, buckets of {bucket}, {transport}: against bytes {bound.__name__}", ours, theirs,
                          "ms", 1, 2)


def split(summary):
    """Of all rounds but the first: milliseconds a round of each part, and of the slowest trainer's compute."""
    count = len(summary["rounds"])
    steps = summary["history"][len(summary["history"]) // count:]
    parts = {name: sum(later(summary["rounds"], f"{name}_seconds")) / (count - 1) * 1e3
             for name in ("sync", "generation", "score")}
    parts["steps"] = sum(step["seconds"] for step in steps) / (count - 1) * 1e3
    return parts, max(rank["compute_seconds"] or 0 for rank in summary["ranks"]) / count * 1e3


def example_job():
    """The example's, with a model that nothing has trained, so that nothing need be trained before; never evaluated."""
    checkpoint, fresh = "checkpoint: out/warm-start", "family: llama, layers: 4, hidden: 128, heads: 4, ffn: 256, vocab: 256"
    text = (EXAMPLE / "job.yaml").read_text()
    if checkpoint not in text:
        raise AssertionError(f"{EXAMPLE / 'job.yaml'} has no `{checkpoint}`")
    return "".join(line for line in text.replace(checkpoint, fresh).splitlines(True) if not line.startswith("eval:"))


# ---- a round: what of it is neither generation nor compute of the slowest trainer, and how busy all ranks keep the cores ----
def beside_computing(measure):
    (measure.folder / "train.jsonl").write_bytes((EXAMPLE / "train.jsonl").read_bytes())
    for name, text, lengths in (("grpo-arithmetic", example_job(), (10, 30)),
                                ("16 × 8 samples of 64 tokens", job(2, 1, 16, 8, 64, 1), (1, 3))):
        plans = [measure.tools.compile(text, f"round-{count}", "--set", f"run.rounds={count}") for count in lengths]
        (found,) = measure.repeated(lambda: [measure.timed("vime-exec", plan, "--quiet", "--json") for plan in plans])
        shares, busy, all_parts = [], [], []
        for (short, short_cpu, _), (long, long_cpu, printed) in found:
            summary = json.loads(printed)
            parts, compute = split(summary)
            all_parts.append(parts | {"compute": compute})
            shares.append(100 * (1 - (parts["generation"] + compute) / sum(parts.values())))
            busy.append(100 * (long_cpu - short_cpu) / (long - short) / summary["cores"])
        parts = ", ".join(f"{part} {median(one[part] for one in all_parts):.1f}" for part in all_parts[0])
        yield Line(f"round, {name}: share beside computing", spread(shares, "%", 1), f"ms: {parts}", None, None, median(shares))
        yield Line(f"round, {name}: CPU, of all cores' time", spread(busy, "%", 1), "", None, None, median(busy))


# ---- the engine in a round against the same engine alone (engine_bench.cpp): one engine rank, the same slots and lengths ----
def engine_in_round(measure):
    all_prompts = f", step_tokens: {SEQUENCES * PROMPT} tokens"  # in one step, as engine_bench has room for
    plan = measure.tools.compile(job(1, 1, SEQUENCES, 1, NEW, 4, advantage="reinforce++", rollout=all_prompts), "engine")
    sizes = [str(number) for number in (8, 256, 688, SEQUENCES, NEW, 3)]

    def alone():
        found = measure.bench("engine_bench", *sizes)
        return found["tokens"] / median([one["all_s"] for one in found["rounds"]])

    def within(transport):
        found = measure.tools.train(plan, "--transport", transport)["rounds"]
        assert all(one["tokens"] == SEQUENCES * NEW for one in found)
        return median(later(found, "tokens_per_second"))

    rates = measure.repeated(alone, lambda: within("local"), lambda: within("gloo"))
    for transport, ours in zip(("local", "gloo"), rates[1:]):
        yield Line(f"engine in a round, {transport}: tokens per second, alone over ours", spread(ours, "/s", 0),
                   spread(rates[0], "/s", 0), median(rates[0]) / median(ours), 1.1)


def rounds(measure, orders):
    write_prompts(measure.folder)
    yield from sync(measure)
    yield from beside_computing(measure)
    yield from engine_in_round(measure)
