"""Rounds give the same bits whatever generates and whatever carries them, also from a dump of what was generated.

    rounds.py FOLDER_OF_BINARIES

A tiny decoder learns from rewards for its own responses. Rewards, losses and exported parameters are compared bit for bit
with one engine and two, over every transport, and with the trainers as one rank or two. In front of the first step of a
round the ratio to the old policy is exactly 1, the drift between engine and trainer exactly 0, and so is the KL to the
reference in the first round.
"""

import json
import pathlib
import sys
import tempfile

import vime

MODEL = "{family: llama, layers: 4, hidden: 32, heads: 4, kv_heads: 2, ffn: 88, vocab: 256, dtype: float32}"


def prompts(folder):
    """Texts whose answer is a letter: an untrained model gives it now and then."""
    for name, count in (("train.jsonl", 24), ("held-out.jsonl", 6)):
        lines = [json.dumps({"prompt": f"{number}+{number}=", "answer": chr(97 + number % 26)}) for number in range(count)]
        (folder / name).write_text("\n".join(lines) + "\n")


def job(*, model=MODEL, pipeline=2, replicas=1, engines=1, schedule="1f1b", rounds=3, steps=2, reference=True, more="", rollout="",
        reward="{rule: regex, pattern: \"[a-m]\"}", advantage="grpo", place="loss", global_samples=None):
    trainers = pipeline * replicas
    ref = "\n  ref:     {model: tiny, like: actor, frozen: true}" if reference else ""
    kl = f", kl: {{coef: 0.05, estimator: k3, in: {place}}}" if reference else ""
    samples = 4 * 4 // steps
    return f"""version: 1
name: rounds
cluster:   {{ranks: {trainers + engines}, device: cpu}}
models:
  tiny:    {model}
roles:
  actor:   {{model: tiny, ranks: 0-{trainers - 1}, parallel: {{pp: {pipeline}, dp: {replicas}}}}}{ref}
  rollout: {{model: tiny, ranks: {trainers}-{trainers + engines - 1}, engine: native}}
pipeline:  {{schedule: {schedule}, microbatch: 64 tokens}}
batch:     {{prompts: 4, samples_per_prompt: 4, global: {samples} samples}}
data:      {{prompts: train.jsonl, max_prompt: 8 tokens}}
rollout:   {{mode: sync, max_new: 12 tokens, temperature: 1.0, stop: [10], over_sample: 1.5, filter: equal-rewards{rollout}}}
reward:    {reward}
algorithm: {{advantage: {advantage}, loss: ppo-clip, clip: [0.2, 0.28]{kl}}}
weight_sync: {{transport: broadcast, bucket: 16KiB}}
eval:      {{prompts: held-out.jsonl, every: 2 rounds, count: 6, samples: 2 samples}}
optimizer: {{kind: adamw, lr: 1.0e-3, clip: 1.0}}
run:       {{rounds: {rounds}, seed: 7, export: out}}
{more}"""


def result(tools, *options, **shape):
    """What must be the same bits: of each step its loss and norm, of each round its rewards, all parameters."""
    plan = tools.compile(job(**shape))
    summary = tools.train(plan, *options)
    timeless = [{key: value for key, value in one.items() if "second" not in key}
                for one in summary["rounds"] + summary["prompt_evaluations"]]
    steps = [(step["loss"], step["gradient_norm"]) for step in summary["history"]]
    return (steps, timeless, vime.tensors(tools.folder / "out")), summary


class Checks:
    def __init__(self):
        self.failures = 0

    def say(self, holds, text):
        self.failures += not holds
        print(f"{text}  {'ok' if holds else 'WRONG'}", flush=True)


def judge_first_steps(checks, summary, steps):
    first = summary["history"][::steps]
    checks.say(all(step["policy"]["ratio"] == 1 for step in first), "ratio of a round's first step is exactly 1")
    checks.say(all(step["policy"]["largest_drift"] == 0 for step in first), "engine and trainer agree to the bit")
    checks.say(first[0]["policy"]["kl"] == 0, "KL of the first step is exactly 0")
    checks.say(any(step["policy"]["ratio"] != 1 for step in summary["history"]), "later steps have another ratio")
    checks.say([one["version"] for one in summary["rounds"]] == [1, 2, 3], "versions of rounds")
    checks.say([one["version"] for one in summary["prompt_evaluations"]] == [1, 3, 4], "versions of evaluations")
    checks.say([rank["compute_seconds"] is None for rank in summary["ranks"]] == [False, False, True],
               "compute is told of ranks that train")
    checks.say(len({step["loss"] for step in summary["history"]}) > 1, "losses differ")


def judge_sums(checks, alone, shared):
    """What replicas have found of their shares, added up."""
    checks.say([one["tokens"] for one in shared[:2]] == [one["tokens"] for one in alone[:2]], "their tokens are all tokens")
    checks.say(all(abs(one[what] - other[what]) < 1e-6 for one, other in zip(shared[:2], alone[:2], strict=True)
                   for what in ("kl", "ratio", "entropy", "clip_fraction")), "and their means those of all tokens")


def main(binaries):
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prompts(folder)
        tools = vime.Tools(binaries, folder)
        reference, summary = result(tools)
        judge_first_steps(checks, summary, steps=2)
        for text, options, shape in [
                ("2 engines", (), {"engines": 2}),
                ("1 engine, gloo", ("--transport", "gloo"), {}),
                ("2 engines, gloo", ("--transport", "gloo"), {"engines": 2}),
                ("3 engines, rendezvous", ("--transport", "rendezvous:merged"), {"engines": 3}),
                ("1 trainer", (), {"pipeline": 1}),
                ("gpipe, rendezvous", ("--transport", "rendezvous:3"), {"schedule": "gpipe"}),
                ("zb-h1", (), {"schedule": "zb-h1"})]:
            found, _ = result(tools, *options, **shape)
            checks.say(found == reference, f"{text:24} bits")
        for text, what, by, has_reference in [
                ("tied head", "vocab", "tied: true, vocab", False), ("qwen3", "llama", "qwen3", True),
                ("bfloat16", "float32", "bfloat16", True), ("float64", "float32", "float64", True)]:
            _, summary = result(tools, model=MODEL.replace(what, by), reference=has_reference)
            first = [step["policy"] for step in summary["history"][::2]]
            checks.say(all((step["ratio"], step["largest_drift"]) == (1, 0) for step in first),
                       f"{text:24} engine and trainer agree")
        for advantage in ("reinforce++", "reinforce++-baseline"):
            lessened, _ = result(tools, advantage=advantage, place="reward")
            for options, shape in (("--transport", "gloo"), {"engines": 2}), ((), {"pipeline": 1, "schedule": "gpipe"}):
                found, _ = result(tools, *options, advantage=advantage, place="reward", **shape)
                checks.say(found == lessened, f"KL in the reward, {advantage}  bits")
            checks.say(lessened[0] != reference[0], "another place of the KL, other losses")
        dumped, _ = result(tools, rollout=", dump: dumps")
        checks.say(dumped == reference, "dumping changes nothing")
        for text, options in [("local", ()), ("gloo", ("--transport", "gloo"))]:
            replayed, _ = result(tools, "--replay", folder / "dumps", *options, schedule="gpipe", engines=2)
            checks.say((replayed[0], replayed[2]) == (reference[0], reference[2]), f"trained from dumps, {text:7} bits")
        alone = [step["policy"] for step in summary["history"]]
        replicas, summary = result(tools, pipeline=1, replicas=2)
        checks.say(replicas[1][0] == reference[1][0], "replicas see the same first round")
        judge_sums(checks, alone, [step["policy"] for step in summary["history"]])
        for text, options, shape in [
                ("2 replicas of 2, 2 engines", ("--transport", "gloo"), {"pipeline": 2, "engines": 2}),
                ("2 replicas, rendezvous", ("--transport", "rendezvous:merged"), {"pipeline": 1})]:
            found, _ = result(tools, *options, replicas=2, **shape)
            checks.say(found == replicas, f"{text:24} bits")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
