"""A policy learns from its own answers, and only from rewards that mean something.

    learns.py FOLDER_OF_BINARIES FOLDER_OF_THE_EXAMPLE

The example's jobs as they are, with three seeds: the share of held-out sums that are answered rises by 20 points over that of
the warm start, with clipping at work. The same from rewards drawn at random, which say nothing about the answers: it does not
rise.
"""

import pathlib
import shutil
import sys
import tempfile

import vime

SEEDS = 7, 8, 9
POINTS = 0.2

# Every answer is right by the toss of a coin that depends on the sample alone.
COIN = """import hashlib, json, sys
for line in sys.stdin:
    request = json.loads(line)
    toss = hashlib.sha256(repr((request["prompt"], request["id"])).encode()).digest()[0] & 1
    print(json.dumps({"id": request["id"], "score": float(toss)}), flush=True)
"""


def trained(tools, *options):
    tools.run("vimec", "job.yaml", "-o", "plan.bin", *options)
    summary = tools.train("plan.bin")
    shares = [one["reward_mean"] for one in summary["prompt_evaluations"]]
    return shares[0], shares[-1], max(step["policy"]["clip_fraction"] for step in summary["history"])


def right_by(tools, judge, *options):
    """The share of held-out prompts answered is told by the rule: so a coin is judged by a plan that only evaluates."""
    text = (tools.folder / "job.yaml").read_text()
    (tools.folder / "job.yaml").write_text(text.replace("{rule: exact-answer}", judge))
    tools.run("vimec", "job.yaml", "-o", "plan.bin", "--set", "run.export=out/coin", *options)
    (tools.folder / "job.yaml").write_text(text.replace("out/warm-start", "out/coin"))
    tools.train("plan.bin")
    share, _, _ = trained(tools, "--set", "run.rounds=1", "--set", "eval.every=1 rounds", "--set",
                          "optimizer.warmup=0 steps")
    (tools.folder / "job.yaml").write_text(text)
    return share


def main(binaries, example):
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for file in pathlib.Path(example).iterdir():
            if file.is_file():
                shutil.copy(file, folder)
        (folder / "coin.py").write_text(COIN)
        tools = vime.Tools(binaries, folder)
        for seed in SEEDS:
            options = "--set", f"run.seed={seed}"
            tools.run("vimec", "warm-start.yaml", "-o", "warm-start.bin", *options)
            tools.train("warm-start.bin")
            before, after, clipped = trained(tools, *options)
            holds = after >= before + POINTS and clipped > 0
            failures += not holds
            print(f"seed {seed}: {before:.3f} of the held-out sums, {after:.3f} after the rounds, up to {clipped:.1%} of tokens "
                  f"clipped  {'ok' if holds else 'WRONG'}", flush=True)
        by_coin = right_by(tools, f'{{command: "{sys.executable} coin.py"}}', *options)
        holds = by_coin <= before + POINTS / 4
        failures += not holds
        print(f"seed {seed}: {before:.3f} before, {by_coin:.3f} from rewards by chance  {'ok' if holds else 'WRONG'}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
