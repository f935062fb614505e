"""A weight sync moves the fewest bytes there are: every engine receives each byte of its weights once.

    sync_bytes.py FOLDER_OF_BINARIES

Of every engine of a plan, the bytes that arrive between one publication and the next are added up from its program and
compared with the bytes of the parameters that the same job exports, which know nothing of stages and buckets. A tensor fills
lines of 64 bytes: only norms of very narrow heads are smaller than theirs.
"""

import json
import sys
import tempfile

import rounds
import vime


def received(shown):
    """Bytes of weights that arrive at each engine of a plan (`vimec show --json`) in front of each publication."""
    engines = range(len(shown["program_of"]) - shown["mesh"]["engines"], len(shown["program_of"]))
    return [arrivals(shown, rank) for rank in engines]


def arrivals(shown, rank):
    program, layout = shown["programs"][shown["program_of"][rank]], shown["layouts"][shown["layout_of"][rank]]
    found, since = [], 0
    for action in program["actions"]:
        if action["opcode"] == "broadcast_weights":
            bucket = shown["groups"][program["lanes"][action["lane"]]["group"]]["message"]["fixed"]
            weights = layout["buffers"][action["operands"]["weights"]]["bytes"]
            since += min(bucket, weights - action["immediate"] * bucket)
        elif action["opcode"] == "publish":
            found.append(since)
            since = 0
    return found


def exported(folder):
    return sum((len(data) + 63) // 64 * 64 for _, _, data in vime.tensors(folder / "out").values())


def main(binaries):
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        tools = vime.Tools(binaries, folder)
        rounds.prompts(tools.folder)
        for name, model in (("float32", rounds.MODEL), ("tied head", rounds.MODEL.replace("vocab", "tied: true, vocab")),
                            ("qwen3, bfloat16", rounds.MODEL.replace("llama", "qwen3").replace("float32", "bfloat16"))):
            for shape in (dict(pipeline=1), dict(engines=3), dict(pipeline=3), dict(pipeline=2, replicas=2, engines=2)):
                for bucket in ("16KiB", "5000B", "64MiB"):
                    text = rounds.job(model=model, rounds=2, reference=False, **shape)
                    plan = tools.compile(text.replace("bucket: 16KiB", f"bucket: {bucket}"))
                    if bucket == "16KiB":
                        tools.train(plan)
                    bytes_of = received(json.loads(tools.run("vimec", "show", plan, "--json").stdout))
                    holds = bytes_of == [[exported(tools.folder)] * 2] * shape.get("engines", 1)
                    failures += not holds
                    print(f"{name}, {shape}, buckets of {bucket}: {bytes_of}  {'ok' if holds else 'WRONG'}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
