"""What a plan costs to compile: by action, from ten thousand of them to a million; for 131,072 ranks; and for up to a
million microbatches, with which a program does not grow.

    scale.py FOLDER_OF_BINARIES

Compiles jobs without weights and prints a table; reads nothing of the plans but their sizes.
"""

import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

JOB = """version: 1
name: scale
cluster:   {{ranks: {ranks}}}
models:
  empty:   {{family: null, layers: {layers}}}
roles:
  actor:   {{model: empty, parallel: {{pp: {pp}, dp: {dp}}}}}
pipeline:  {{schedule: {schedule}, microbatches: {microbatches}, microbatch: 1 samples}}
data:      {{text: text.txt, sequence: 1 tokens}}
optimizer: {{lr: 1.0e-3}}
run:       {{steps: 1000}}
"""
ROUNDS = 3


def compile_job(vimec, folder, pp, dp, microbatches, schedule="1f1b"):
    """Wall seconds (of the best round), actions and bytes of the plan."""
    (folder / "job.yaml").write_text(JOB.format(ranks=pp * dp, pp=pp, dp=dp, layers=4 * pp, microbatches=microbatches,
                                                schedule=schedule))
    (folder / "text.txt").write_bytes(b"ab" * (dp * microbatches))
    best, done = float("inf"), None
    for _ in range(ROUNDS):
        start = time.monotonic()
        done = subprocess.run([vimec, "job.yaml", "-o", "plan.bin"], cwd=folder, capture_output=True, text=True)
        best = min(best, time.monotonic() - start)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
    actions = int(re.search(r"(\d+) actions", done.stderr).group(1))
    return best, actions, (folder / "plan.bin").stat().st_size


def main():
    vimec = pathlib.Path(sys.argv[1]).resolve() / "vimec"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print("  pp    dp microbatches    actions  seconds  µs an action  plan MB")
        # As many microbatches as ranks: nothing repeats, so no loop saves an action.
        for pp, dp, microbatches in [(40, 1, 40), (72, 1, 72), (128, 1, 128), (230, 1, 230), (410, 1, 410),
                                     (64, 1, 512), (64, 2, 512), (64, 1024, 512), (64, 2048, 512)]:
            seconds, actions, size = compile_job(vimec, folder, pp, dp, microbatches)
            # Ranks that share a program cost nothing.
            own = actions // dp if dp == 1 else 2 * (actions // dp)
            print(f"{pp:4} {dp:5} {microbatches:12} {actions:10} {seconds:8.3f} {1e6 * seconds / own:13.2f} "
                  f"{size / 1e6:8.2f}", flush=True)
        print("schedule                    pp microbatches    actions  seconds  plan kB")
        for schedule, pp, counts in [("1f1b", 4, (100, 1000, 10_000, 100_000, 1_000_000)),
                                     ("zb-h1", 4, (100, 10_000, 1_000_000)),
                                     ("gpipe", 4, (100, 10_000, 100_000)),
                                     ("zb-v, chunks: 2", 4, (100, 10_000, 200_000)),
                                     ("interleaved, chunks: 4", 4, (100, 10_000, 200_000)),
                                     ("interleaved, chunks: 4", 64, (512, 4096, 16_384))]:
            for microbatches in counts:
                seconds, actions, size = compile_job(vimec, folder, pp, 1, microbatches, schedule)
                print(f"{schedule:24} {pp:5} {microbatches:12} {actions:10} {seconds:8.3f} {size / 1e3:8.1f}",
                      flush=True)
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"largest resident memory of a compilation: {most:.0f} MiB")


if __name__ == "__main__":
    main()
