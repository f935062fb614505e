"""Rounds that end badly end clearly, and go on from where they were saved.

    round_faults.py FOLDER_OF_BINARIES [--kills N]

An engine or a trainer is killed somewhere in a round, rewards never come, the disk is full when samples are dumped, the
user interrupts: each has its exit code and a message that names rank and action, in time, and leaves no process behind. A
run that is killed at random actions and resumed comes to the bits of one that never was, whatever the number of engines.
"""

import mmap
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import rounds
import vime

FAIL, HANG, FILE, INTERRUPTED = 5, 6, 3, 130
BEGUN = 128  # offset of the program counter in a flight record (runtime/Trace/FlightRecord.h)
ROUNDS, STEPS = 4, 2
LIMITS = "limits:    {connect: 20s, transfer: 1s}\n"
SAVES = f"checkpoint: {{dir: saved, every: {STEPS} steps}}\n"

# Answers all requests but, from the second round on, none: a service that hangs.
HANGING = """import json, sys, time
for number, line in enumerate(sys.stdin):
    if number >= 24:
        time.sleep(3600)
    print(json.dumps({"id": json.loads(line)["id"], "score": number % 2}), flush=True)
"""


def job(**shape):
    return rounds.job(rounds=ROUNDS, steps=STEPS, **{"more": LIMITS + SAVES, **shape})


class Started:
    """A run over gloo, from outside."""

    def __init__(self, tools, plan, *options, transport="gloo"):
        self.records = tools.folder / "records"
        shutil.rmtree(self.records, ignore_errors=True)
        self.program = subprocess.Popen(
            [tools.binaries / "vime-exec", plan, "--transport", transport, "--quiet", "--records", self.records, *options],
            cwd=tools.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)

    def await_action(self, rank, action):
        """The process of the rank, as soon as its program counter is there; None when the run ended before."""
        file, record = self.records / f"rank-{rank}.flight", None
        while self.program.poll() is None:
            try:
                with open(file, "rb") as opened:
                    record = record or mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
                if struct.unpack_from("<Q", record, BEGUN)[0] >= action:
                    return struct.unpack_from("<Q", record, 48)[0]
            except (FileNotFoundError, ValueError):
                pass
            time.sleep(0.0002)
        return None

    def finish(self, limit):
        since = time.monotonic()
        _, message = self.program.communicate(timeout=limit)
        return self.program.returncode, message, time.monotonic() - since


class Faults:
    def __init__(self, binaries, folder):
        self.tools, self.failures, self.random = vime.Tools(binaries, folder), 0, random.Random(5)
        rounds.prompts(self.tools.folder)

    def say(self, what, holds, told=""):
        self.failures += not holds
        print(f"{what:58} {'ok' if holds else 'WRONG ' + told}", flush=True)

    def actions(self, plan, rank):
        """Of a rank in a whole run."""
        self.clear()
        run = Started(self.tools, plan)
        code, message, _ = run.finish(120)
        assert code == 0, message
        return struct.unpack_from("<Q", (run.records / f"rank-{rank}.flight").read_bytes(), BEGUN)[0]

    def clear(self):
        for name in ("saved", "out"):
            shutil.rmtree(self.tools.folder / name, ignore_errors=True)

    def killed(self, plan, rank, what):
        most = self.actions(plan, rank)
        for action in sorted(self.random.sample(range(1, int(most * 0.9)), 3)):
            self.clear()
            run = Started(self.tools, plan)
            process = run.await_action(rank, action)
            if process is None:
                self.say(f"{what} at action {action}", False, "the run was over before")
                continue
            os.kill(process, signal.SIGKILL)
            code, message, seconds = run.finish(60)
            self.say(f"{what} killed at action {action}",
                     code == FAIL and f"rank {rank} (process {process}) was ended by signal 9" in message
                     and "action " in message and seconds < 8, f"{code} after {seconds:.1f} s: {message}")

    def stopped(self, plan, rank):
        """Nobody but its peers can notice that."""
        self.clear()
        run = Started(self.tools, plan)
        process = run.await_action(rank, 40)
        os.kill(process, signal.SIGSTOP)
        code, message, seconds = run.finish(60)
        self.say(f"engine stopped: {seconds:.0f} s", code == HANG and f"rank {rank}" in message, f"{code}: {message}")

    def rewards_hang(self):
        (self.tools.folder / "judge.py").write_text(HANGING)
        command = f'{{command: "{sys.executable} judge.py", timeout: 1s, retries: 0}}'
        plan = self.tools.compile(job(reward=command))
        for transport in ("local", "gloo"):
            self.clear()
            code, message, seconds = Started(self.tools, plan, transport=transport).finish(60)
            self.say(f"rewards that never come, {transport}",
                     code in (HANG, FAIL) and "rank 0 in action " in message and "(score)" in message and seconds < 20,
                     f"{code} after {seconds:.1f} s: {message}")

    def interrupted_rewards(self):
        command = f'{{command: "{sys.executable} judge.py", timeout: 100s, retries: 0}}'
        plan = self.tools.compile(job(reward=command, more="limits: {transfer: 100s}\n" + SAVES))
        for transport in ("local", "gloo"):
            self.clear()
            run = Started(self.tools, plan, transport=transport)
            run.await_action(2, 10)
            time.sleep(2)
            going_on = run.program.poll() is None
            run.program.send_signal(signal.SIGINT)
            code, message, seconds = run.finish(60)
            self.say(f"interrupted while rewards are given, {transport}", going_on and code == INTERRUPTED and seconds < 5,
                     f"{code} after {seconds:.1f} s: {message}")

    def full_disk(self):
        plan = self.tools.compile(job(rollout=", dump: dumps"))
        self.clear()
        (self.tools.folder / "dumps").write_text("a file, where a folder should be")
        code, message, _ = Started(self.tools, plan, transport="local").finish(60)
        self.say("samples that cannot be dumped", code == FILE and "dumps" in message and "(score)" in message,
                 f"{code}: {message}")
        (self.tools.folder / "dumps").unlink()
        for transport in ("local", "gloo"):
            self.clear()
            run = Started(self.tools, plan, transport=transport)
            process = run.await_action(0, 10)
            resource.prlimit(process, resource.RLIMIT_FSIZE, (0, 0))  # no file may grow any more
            code, message, _ = run.finish(60)
            shutil.rmtree(self.tools.folder / "dumps", ignore_errors=True)
            self.say(f"a disk that fills up, {transport}", code == FILE and "rank 0 in action " in message,
                     f"{code}: {message}")

    def interrupted(self, plan):
        for transport in ("local", "gloo"):
            self.clear()
            run = Started(self.tools, plan, transport=transport)
            run.await_action(2, 30)
            run.program.send_signal(signal.SIGINT)
            code, message, seconds = run.finish(60)
            self.say(f"interrupted, {transport}", code == INTERRUPTED and seconds < 5, f"{code} after {seconds:.1f}: {message}")

    def resumed(self, kills):
        plan = self.tools.compile(job())
        two = self.tools.folder / "two.bin"
        self.tools.compile(job(engines=2), "two")
        self.clear()
        whole = self.tools.train(plan)
        expected = vime.tensors(self.tools.folder / "out")
        history = [(step["step"], step["loss"], step["gradient_norm"]) for step in whole["history"]]
        shutil.move(self.tools.folder / "saved", self.tools.folder / "kept")
        for step in (2, 6, 8):
            self.clear()
            shutil.copytree(self.tools.folder / f"kept/step-{step:06}", self.tools.folder / f"saved/step-{step:06}")
            found = self.tools.train(two, "--resume")
            same = [(one["step"], one["loss"], one["gradient_norm"]) for one in found["history"]] == history[step:]
            self.say(f"resumed behind step {step}, with another engine",
                     same and vime.tensors(self.tools.folder / "out") == expected)
            self.say("and its versions go on", [one["version"] for one in found["rounds"]]
                     == list(range(step // STEPS + 1, ROUNDS + 1))
                     and found["prompt_evaluations"][-1]["version"] == ROUNDS + 1, str(found["prompt_evaluations"]))
        most = self.actions(plan, 2)
        self.clear()
        for _ in range(kills):
            run = Started(self.tools, plan, "--resume-if-any")
            rank = self.random.randrange(3)
            process = run.await_action(rank, self.random.randint(1, most))
            if process is not None:
                os.kill(process, signal.SIGKILL)
            run.finish(60)
        self.tools.train(plan, "--resume-if-any")
        self.say(f"after {kills} kills and resumptions the same parameters",
                 vime.tensors(self.tools.folder / "out") == expected)


def main(binaries, kills=5):
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(binaries, pathlib.Path(folder))
        plan = faults.tools.compile(job(), "faults")
        faults.killed(plan, 2, "engine")
        faults.killed(plan, 1, "trainer")
        faults.killed(plan, 0, "coordinator")
        faults.stopped(plan, 2)
        faults.rewards_hang()
        faults.interrupted_rewards()
        faults.full_disk()
        faults.interrupted(plan)
        faults.resumed(kills)
        return 1 if faults.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *(int(count) for count in sys.argv[3:4])))
