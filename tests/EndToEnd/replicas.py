"""Replicas train together to the same bits under every order and transport, and as one replica does up to rounding.

    replicas.py FOLDER_OF_BINARIES

dp replicas with m microbatches each take the same samples as one replica with dp * m. For each dp, losses, norms and
exported parameters are compared bit for bit with those of pp = 1 under GPipe, and so are those of replicas that share the
model. With dp = 1 they differ by the order in
which gradients are added, so they are compared within what that may change.
"""

import json
import math
import pathlib
import struct
import sys
import tempfile

import vime

ORDERS = [("gpipe", None), ("1f1b", None), ("interleaved", 2), ("zb-h1", None), ("zb-v", 2)]
WIDE = vime.TINY.replace("float32", "float64")
NARROW = vime.TINY.replace("float32", "bfloat16")


def result(tools, schedule, ranks, replicas, *options, chunks=None, **job):
    """Losses and norms in full precision, and the exported tensors."""
    plan = tools.compile(vime.job(schedule, ranks, replicas=replicas, chunks=chunks, export="out", **job))
    summary = tools.train(plan, *options)
    return [(step["loss"], step["gradient_norm"]) for step in summary["history"]], vime.tensors(tools.folder / "out")


def numbers(tensor):
    dtype, _, data = tensor
    return struct.unpack(f"<{len(data) // {'F32': 4, 'F64': 8}[dtype]}{ {'F32': 'f', 'F64': 'd'}[dtype]}", data)


def norm(values):
    return math.sqrt(math.fsum(value * value for value in values))


class Comparison:
    """Counts what differs."""

    def __init__(self):
        self.failures = 0

    def say(self, holds, text):
        self.failures += not holds
        print(f"{text}  {'ok' if holds else 'TOO FAR'}", flush=True)

    def equal(self, reference, found, text):
        self.say(found == reference, f"{text:58} bits")

    def near(self, reference, found, text, most, steps):
        worst = max(abs(one - other) / abs(one) for (one, _), (other, _)
                    in zip(reference[0][:steps], found[0][:steps], strict=True))
        self.say(worst <= most, f"{text:58} loss of {steps} steps off by {worst:.1e}, at most {most:.0e}")

    def near_norms(self, reference, found, text, most):
        worst = max(abs(norm(numbers(found[1][name])) / norm(numbers(tensor)) - 1)
                    for name, tensor in reference[1].items())
        self.say(worst <= most, f"{text:58} norm of a tensor off by {worst:.1e}, at most {most:.0e}")


def to_the_bit(tools, compare, replicas, reference):
    runs = [(1, schedule, None, "local") for schedule in ("1f1b",)]
    runs += [(1, "gpipe", None, "gloo"), (1, "gpipe", None, "rendezvous:merged")]
    if replicas == 2:
        runs += [(2, schedule, chunks, "local") for schedule, chunks in ORDERS]
        runs += [(2, schedule, chunks, "gloo") for schedule, chunks in ORDERS if schedule in ("1f1b", "zb-v")]
        runs += [(2, schedule, chunks, f"rendezvous:{seed}") for seed, (schedule, chunks) in enumerate(ORDERS)]
    for ranks, schedule, chunks, transport in runs:
        found = result(tools, schedule, ranks, replicas, "--transport", transport, chunks=chunks)
        compare.equal(reference, found, f"dp {replicas} pp {ranks} {schedule:12} {transport}")


def shared(tools, compare, replicas, reference):
    """The same where each replica keeps only its share."""
    runs = [(1, "gpipe", None, "local")]
    if replicas == 2:
        runs += [(1, "1f1b", None, "gloo"), (1, "gpipe", None, "rendezvous:merged"), (2, "1f1b", None, "local"),
                 (2, "interleaved", 2, "gloo"), (2, "zb-v", 2, "rendezvous:3"), (2, "zb-h1", None, "rendezvous:merged")]
    else:
        runs += [(1, "1f1b", None, "gloo"), (1, "1f1b", None, "rendezvous:1")]
    for ranks, schedule, chunks, transport in runs:
        found = result(tools, schedule, ranks, replicas, "--transport", transport, chunks=chunks, shard=True)
        compare.equal(reference, found, f"dp {replicas} pp {ranks} {schedule:12} {transport}, sharded")


def evaluated(tools, compare):
    """Held-out losses, which need whole weights once more."""
    history = []
    for shard in (False, True):
        plan = tools.compile(vime.job("1f1b", 2, replicas=2, steps=4, shard=shard,
                                      more="eval: {text: corpus.txt, every: 2 steps, microbatches: 2}\n"))
        history.append(tools.run("vime-exec", plan, "--progress", "jsonl").stderr)
    losses = [[json.loads(line)["loss"] for line in lines.splitlines() if '"evaluation"' in line]
              for lines in history]
    compare.say(len(losses[0]) == 2, "an evaluation behind every second step")
    compare.equal(losses[0], losses[1], "dp 2 pp 2 1f1b, held-out losses, sharded")
    refused = tools.run("vime-exec", plan, "--resume", expect=2).stderr
    compare.say("cannot go on from a checkpoint yet" in refused, "resuming is refused, sharded")


def whole_in_turn(tools, compare, reference):
    """Fewer whole stages at a time than a rank has."""
    for memory, transport in (("{unsharded: 1}", "local"), ("{unsharded: 2}", "gloo"), ("{unsharded: 3}", "rendezvous:5"),
                              ("{unsharded: 2, unshard_rule: torch-compatible}", "rendezvous:merged")):
        found = result(tools, "interleaved", 2, 2, "--transport", transport, chunks=4, shard=True,
                       more=f"memory: {memory}\n")
        compare.equal(reference, found, f"dp 2 pp 2, 4 chunks {memory} {transport}")


def arena(tools, shard, replicas, schedule="1f1b", ranks=1, **job):
    """Bytes of the largest arena of a rank."""
    plan = tools.compile(vime.job(schedule, ranks, replicas=replicas, shard=shard, steps=1, **job))
    memory = json.loads(tools.run("vimec", "show", plan, "--memory", "--json").stdout)
    return max(tier["arena_bytes"] for alike in memory["alike"] for tier in alike["tiers"])


def narrowed(tools, compare):
    """Where memory is short, fewer stages are whole at a time, unless the job says how many."""
    shape = {"schedule": "interleaved", "ranks": 2, "chunks": 4}
    widest = arena(tools, True, 2, **shape)
    narrowest = arena(tools, True, 2, more="memory: {unsharded: 1}\n", **shape)
    compare.say(narrowest < widest, "fewer whole stages take less")
    for limit in (widest, widest - 1, narrowest):
        found = arena(tools, True, 2, pipeline=f"memory_limit: {limit}B", **shape)
        compare.say(found <= limit and (found == widest) == (limit == widest), f"a plan within {limit} bytes")
    job = vime.job(replicas=2, shard=True, pipeline=f"memory_limit: {narrowest}B", more="memory: {unsharded: 4}\n", **shape)
    (tools.folder / "job.yaml").write_text(job)
    tools.run("vimec", "job.yaml", "-o", "job.bin", expect=1)
    compare.say(True, "a stated number stays")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tools, compare = vime.Tools(pathlib.Path(sys.argv[1]).resolve(), folder), Comparison()
        vime.corpus(tools.folder)
        alone = result(tools, "gpipe", 1, 1)
        for replicas in (2, 4):
            reference = result(tools, "gpipe", 1, replicas)
            to_the_bit(tools, compare, replicas, reference)
            shared(tools, compare, replicas, reference)
            compare.say(arena(tools, True, replicas) < arena(tools, False, replicas),
                        f"dp {replicas} has smaller arenas, sharded")
            if replicas == 2:
                whole_in_turn(tools, compare, reference)
            compare.near(alone, reference, f"dp {replicas} and dp 1, float32", 1e-6, 3)
            compare.near(alone, reference, f"dp {replicas} and dp 1, float32", 1e-4, 20)
        evaluated(tools, compare)
        narrowed(tools, compare)
        compare.near_norms(result(tools, "gpipe", 1, 1, steps=3), result(tools, "1f1b", 2, 2, steps=3),
                          "dp 2 and dp 1, float32, three steps", 1e-5)
        wide = [result(tools, "gpipe", 1, replicas, model=WIDE) for replicas in (1, 2)]
        compare.near(*wide, "dp 2 and dp 1, float64", 1e-10, 20)
        compare.near_norms(*wide, "dp 2 and dp 1, float64", 1e-10)
        # Of bfloat16 the gradients of weights, and so what replicas add up, are float32.
        narrow = [result(tools, "gpipe", 1, replicas, model=NARROW) for replicas in (1, 2)]
        compare.near(*narrow, "dp 2 and dp 1, bfloat16", 1e-4, 20)
        for ranks, schedule, chunks, transport in [(2, "zb-v", 2, "local"), (1, "1f1b", None, "gloo")]:
            found = result(tools, schedule, ranks, 2, "--transport", transport, chunks=chunks, model=NARROW)
            compare.equal(narrow[1], found, f"dp 2 pp {ranks} {schedule:12} {transport}, bfloat16")
            found = result(tools, schedule, ranks, 2, "--transport", transport, chunks=chunks, model=NARROW, shard=True)
            compare.equal(narrow[1], found, f"dp 2 pp {ranks} {schedule:12} {transport}, bfloat16, sharded")
        found = result(tools, "1f1b", 1, 2, model=WIDE, shard=True)
        compare.equal(wide[1], found, "dp 2 pp 1 1f1b local, float64, sharded")
    sys.exit(1 if compare.failures else 0)


if __name__ == "__main__":
    main()
