"""A campaign of random faults: every process ends in time, with the right exit code, and says who was first.

    faults.py BUILD/bin [--count 200] [--seed S] [--kinds killed,stopped]

Each fault hits a random rank of a run with four ranks at a random action: the campaign watches the rank's program
counter in its flight record and strikes from outside (fault_kinds.py). Then: does everything end within 5 s, by a
deadline within the job's limit and 1 s; is the exit code right; does the message name rank and action; does
`vimec explain` find the rank that was hit; is no process and no half-written file left?
"""

import argparse
import collections
import json
import mmap
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

import vime
from fault_kinds import KINDS, NEEDS_MOUNT, can_mount

RANKS, STEPS = 4, 40
LIMIT = 1.0  # seconds that a rank waits for another one
CONNECT = 4.0  # seconds in which all have met
FAREWELL = 5.0  # behind that: the verdict is heard, the last ranks are stopped
BEGUN = 128  # offset of the program counter in a flight record (runtime/Trace/FlightRecord.h)

SLEEPY = "{family: sleep, layers: 4, forward: 1ms, backward_input: 1ms, backward_weight: 1ms}"
TINY = "{family: llama, layers: 4, hidden: 16, heads: 2, ffn: 32, vocab: 256, dtype: float32}"


def job(steps, model=SLEEPY, export=None):
    text = vime.job("1f1b", RANKS, microbatches=4, steps=steps, model=model, sequence=16, samples=1, export=export)
    return text + f"limits:    {{connect: {CONNECT}s, transfer: {LIMIT}s}}\n"


class Run:
    """One run of vime-exec that a fault will hit."""

    def __init__(self, campaign, kind, transport, rank, chance):
        self.kind, self.transport, self.rank, self.random = kind, transport, rank, chance
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=campaign.tools.folder, prefix="run-"))
        self.records = self.folder / "records"
        (self.folder / "tmp").mkdir()
        self.held, self.mounted = [], None
        self.plan = self.folder / "plan.bin"
        self.plan.write_bytes(campaign.plans[kind.job].read_bytes())
        (self.folder / "corpus.txt").write_bytes((campaign.tools.folder / "corpus.txt").read_bytes())
        if kind.prepare:
            kind.prepare(self)
        environment = {**os.environ, "TMPDIR": str(self.folder / "tmp")}
        if kind.preload:
            self.task = chance.randint(1, campaign.tasks * (1 if transport == "gloo" else RANKS))
            which = rank if transport == "gloo" else "-"
            environment |= {"LD_PRELOAD": str(campaign.library), "VIME_FAULT": f"{kind.preload}:{which}:{self.task}"}
        self.program = subprocess.Popen(
            [campaign.tools.binaries / "vime-exec", self.plan, "--base", self.folder, "--transport", transport,
             "--quiet", "--records", self.records],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
            start_new_session=True)
        self.launcher = self.program.pid
        self.processes = []

    def await_action(self, action):
        """Until the rank's program counter is there; False when the run ended before."""
        file = self.records / f"rank-{self.rank}.flight"
        while self.program.poll() is None:
            try:
                with open(file, "rb") as opened:
                    record = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
                break
            except (FileNotFoundError, ValueError):
                time.sleep(0.001)
        while self.program.poll() is None:
            if struct.unpack_from("<Q", record, BEGUN)[0] >= action:
                return True
            time.sleep(0.0002)
        return False

    def await_process(self):
        """Until the rank's process has taken its record over; False when the run ended before."""
        file = self.records / f"rank-{self.rank}.flight"
        while self.program.poll() is None:
            header = file.read_bytes()[:128] if file.exists() else b""
            if len(header) == 128 and struct.unpack_from("<Q", header, 48)[0] not in (0, self.launcher):
                return True
            time.sleep(0.0005)
        return False

    def find_processes(self):
        """The process of each rank, from its record."""
        self.processes = []
        for rank in range(RANKS):
            header = (self.records / f"rank-{rank}.flight").read_bytes()[:128]
            self.processes.append(struct.unpack_from("<Q", header, 48)[0])

    def finish(self, since, limit):
        """Exit code, message, and the seconds until all processes were gone."""
        try:
            _, message = self.program.communicate(timeout=limit + 30)
        except subprocess.TimeoutExpired:
            message = "does not end at all"
        while any(is_alive(process) for process in self.processes) and time.monotonic() - since < limit + 30:
            time.sleep(0.002)
        return self.program.returncode, message, time.monotonic() - since


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


class Campaign:
    def __init__(self, tools, seed):
        self.tools, self.random = tools, random.Random(seed)
        vime.corpus(tools.folder, 1 << 13)
        self.library = next(tools.binaries.parent.glob("lib/libvime_faulty_stage.so"))
        self.plans = {name: tools.folder / tools.compile(text, name) for name, text in {
            "sleep": job(STEPS), "swap": job(STEPS), "other": job(STEPS + 1), "export": job(STEPS, TINY, "out/model")}.items()}
        self.actions = {name: self.count(name) for name in ("sleep", "export")}
        self.tasks = STEPS * 4 * 2 - 8  # of a rank: forwards and backwards of all steps, but for the last ones

    def count(self, name):
        """Actions of each rank in a whole run."""
        self.tools.train(f"{name}.bin", "--records", f"{name}.records")
        told = self.tools.run("vimec", "explain", f"{name}.records", "--json").stdout
        return [rank["actions"] for rank in json.loads(told)["ranks"]]

    def one(self, name):
        """One fault of this kind: (outcome, seconds, what is wrong)."""
        kind = KINDS[name]
        transport, rank = self.random.choice(kind.transports), self.random.randrange(RANKS)
        run = Run(self, kind, transport, rank, self.random)
        job_actions = self.actions.get(kind.job, self.actions["sleep"])[rank]
        action = 0 if kind.at_start else self.random.randint(1, int(job_actions * 0.9))
        hit = self.strike(run, action)
        since, limit = time.monotonic(), LIMIT + 1 if kind.hangs else 5
        if kind.meets and kind.hangs:
            limit = CONNECT + FAREWELL
        code, message, seconds = run.finish(since, limit)
        if kind.preload:
            seconds = self.since_last_move(run)
        wrong = list(self.judge(run, kind, hit, code, message, seconds, limit))
        if run.mounted:
            subprocess.run(["umount", run.mounted], check=True)
        where = f"rank {rank}, action {action}" if not kind.preload else f"rank {rank}, task {run.task}"
        return f"{transport}: exit {code}", seconds, [f"{name} over {transport}, {where}: {what}" for what in wrong]

    def strike(self, run, action):
        if run.kind.job == "swap":
            return self.swap_plan(run)
        if run.kind.meets:
            return self.strike_early(run)
        if run.kind.at_start:
            return True
        if run.kind.preload:
            if run.await_action(1):
                run.find_processes()
            return True
        if not run.await_action(action):
            return False
        run.find_processes()
        run.kind.inject(run)
        return True

    def strike_early(self, run):
        """While ranks prepare themselves and meet, which takes some milliseconds."""
        if not run.await_process():
            return False
        time.sleep(self.random.uniform(0, 0.04))
        run.find_processes()
        run.kind.inject(run)
        return True

    def swap_plan(self, run):
        """Another plan takes the place of the one that the starting process has read."""
        other = run.folder / "other.bin"
        other.write_bytes(self.plans["other"].read_bytes())
        while run.program.poll() is None and not (run.records / f"rank-{RANKS - 1}.flight").exists():
            time.sleep(0.0001)
        other.rename(run.plan)
        return True

    @staticmethod
    def since_last_move(run):
        """From the moment at which the fault hit, which only the records know, to now."""
        moments = []
        for rank in range(RANKS):
            header = (run.records / f"rank-{rank}.flight").read_bytes()[:256]
            moments.append(struct.unpack_from("<q", header, 200)[0])  # when it last moved
        return max(0.0, time.monotonic() - max(moments) * 1e-9)

    def judge(self, run, kind, hit, code, message, seconds, limit):
        if not hit:
            yield "the run was over before the fault"
            return
        if code not in kind.codes:
            yield f"exit code {code} instead of {' or '.join(map(str, kind.codes))}: {message}"
        if seconds > limit:
            yield f"everything was gone after {seconds:.2f} s, allowed are {limit} s"
        if any(is_alive(process) for process in run.processes):
            yield "a process is left"
        if kind.named and not ("rank " in message and "action " in message and "of the job, `" in message):
            yield f"the message names no rank, action or line: {message}"
        yield from self.leftovers(run)
        if kind.causes:
            yield from self.explain(run, kind)

    @staticmethod
    def leftovers(run):
        allowed = {"plan.bin", "corpus.txt", "records", "tmp"} | ({run.mounted.name} if run.mounted else set())
        left = {entry.name for entry in run.folder.iterdir()} - allowed
        for folder in {run.folder / "tmp", run.mounted or run.folder / "tmp"}:
            left |= {f"{folder.name}/{entry.name}" for entry in folder.iterdir()}
        if run.kind is KINDS["launcher"]:  # nobody is left to remove where the ranks were to meet
            left = {name for name in left if not name.startswith("tmp/vime-")}
        if left:
            yield f"files are left: {', '.join(sorted(left))}"

    @staticmethod
    def may_be_blamed(run, kind, rank):
        if kind.culprit is None or (kind.preload and run.transport == "local"):  # there, tasks of all ranks are counted
            return True
        return rank == (run.rank if kind.culprit == "hit" else kind.culprit)

    def explain(self, run, kind):
        told = json.loads(self.tools.run("vimec", "explain", run.records, "--json").stdout)
        first = told["first"] or {"cause": "none", "rank": None}
        if first["cause"] not in kind.causes:
            yield f"explained as {first}"
        elif first["cause"] in ("transfer", "lost peer"):  # which end of a connection it was cannot be known
            if not re.search(rf"\branks? (\d+, )*(\d+ and )?{run.rank}\b", first["sentence"]):
                yield f"what is blamed has nothing to do with rank {run.rank}: {first}"
        elif not self.may_be_blamed(run, kind, first["rank"]):
            yield f"rank {first['rank']} is blamed: {first}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    arguments = parser.parse_args()
    names = arguments.kinds.split(",")
    if not can_mount() and set(names) & set(NEEDS_MOUNT):
        print(f"without {', '.join(NEEDS_MOUNT)}: this user may mount no disk")
        names = [name for name in names if name not in NEEDS_MOUNT]
    outcomes, slowest, wrong = collections.defaultdict(collections.Counter), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(vime.Tools(pathlib.Path(arguments.binaries).resolve(), folder), arguments.seed)
        for index in range(arguments.count):
            name = names[index % len(names)]
            outcome, seconds, complaints = campaign.one(name)
            outcomes[name][outcome] += 1
            slowest[name] = max(slowest[name], seconds)
            wrong += complaints
            for complaint in complaints:
                print(f"WRONG {complaint}", flush=True)
    print(f"{'fault':13} {'slowest end':>11}  outcomes")
    for name in names:
        told = ", ".join(f"{count} × {outcome}" for outcome, count in sorted(outcomes[name].items()))
        print(f"{name:13} {slowest[name]:9.2f} s  {told}")
    print(f"{arguments.count} faults with seed {arguments.seed}: {len(wrong)} complaints")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
