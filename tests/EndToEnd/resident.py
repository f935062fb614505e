"""What a run has resident is what its plan says: the arenas of its ranks and a declared allowance.

    resident.py BUILD/bin

Models large and small, ranks as threads and as processes, with files in and out; each process tells how much it had
resident at most, and for ranks that are threads the kernel tells it once more.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import vime

MIB = 1 << 20
NOTHING = "{family: 'null', layers: 8}"
DECODER = "{family: llama, layers: 4, hidden: 128, heads: 4, ffn: 344, vocab: 256, dtype: float32}"
WIDE = "{family: llama, layers: 8, hidden: 256, heads: 8, ffn: 688, vocab: 4096, dtype: float32}"
LONG = "{family: qwen3, layers: 4, hidden: 64, heads: 4, ffn: 160, vocab: 256, dtype: float64}"

# name, transport, arguments of vime.job
RUNS = [
    ("nothing, 64 microbatches", "local", dict(ranks=4, model=NOTHING, microbatches=64, steps=200)),
    ("nothing, 64 microbatches", "gloo", dict(ranks=4, model=NOTHING, microbatches=64, steps=50)),
    ("tiny, exported", "local", dict(ranks=2, steps=3, export="tiny")),
    ("decoder of width 128", "local", dict(ranks=4, model=DECODER, steps=2)),
    ("decoder of width 128", "gloo", dict(ranks=4, model=DECODER, steps=2, export="decoder")),
    ("replicas", "gloo", dict(ranks=2, replicas=2, model=DECODER, steps=2)),
    ("long sequences, float64", "local", dict(ranks=2, model=LONG, steps=1, microbatches=2, sequence=512)),
    ("width 256, recomputed", "local", dict(ranks=2, model=WIDE, steps=1, microbatches=2, recompute=True)),
]


def own_peak():
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(status["VmHWM"].split()[0]) * 1024


def run(tools, plan, transport):
    """The summary, and what the kernel says of the process that was started, in bytes."""
    process = subprocess.Popen([tools.binaries / "vime-exec", plan, "--transport", transport, "--quiet", "--json"],
                               cwd=tools.folder, stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise AssertionError(f"{plan} over {transport}: exit code {process.returncode}: {out}")
    return json.loads(out), usage.ru_maxrss * 1024


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        tools = vime.Tools(pathlib.Path(sys.argv[1]).resolve(), folder)
        vime.corpus(tools.folder, 1 << 19)
        print(f"{'run':26} {'':5} {'arenas':>10} {'resident':>10} {'allowed':>10}")
        for name, transport, arguments in RUNS:
            plan = tools.compile(vime.job("1f1b", **arguments))
            summary, seen = run(tools, plan, transport)
            processes = summary["resident"]
            ranks = len(summary["ranks"])
            wrong = []
            if sum(process["ranks"] for process in processes) != ranks:
                wrong.append(f"the processes of {ranks} ranks tell of {processes}")
            if transport == "local" and seen > max(own_peak(), processes[0]["bytes"] + MIB):
                wrong.append(f"the kernel says {seen} bytes")  # a child begins with what its parent has
            for process in processes:
                first, count = process["first_rank"], process["ranks"]
                arenas = sum(rank["arena_bytes"] for rank in summary["ranks"][first:first + count])
                if not arenas <= process["bytes"] <= process["allowed_bytes"]:
                    wrong.append(f"ranks {first} to {first + count - 1} are beyond their limit")
                print(f"{name:26} {transport:5} {arenas / MIB:6.1f} MiB {process['bytes'] / MIB:6.1f} MiB "
                      f"{process['allowed_bytes'] / MIB:6.1f} MiB")
            for complaint in wrong:
                print(f"WRONG {name} over {transport}: {complaint}")
            failures += len(wrong)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
