"""Ranks that something else starts, as torchrun, srun and mpirun do it: processes with an environment.

    launched.py FOLDER_OF_BINARIES

The ranks find each other, train to the bits of a local run, and refuse by name what does not belong to them.
"""

import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import vime

RANKS = 4
SIZES = {"RANK": "WORLD_SIZE", "SLURM_PROCID": "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_SIZE",
         "PMI_RANK": "PMI_SIZE"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Rank:
    """A vime-exec as one rank. `launcher` is the variable that names it."""

    def __init__(self, tools, rank, plan, port, *options, ranks=RANKS, launcher="RANK", **extra):
        environment = {"PATH": os.environ["PATH"], launcher: str(rank), SIZES[launcher]: str(ranks),
                       "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), **extra}
        self.rank = rank
        self.process = subprocess.Popen([tools.binaries / "vime-exec", plan, "--quiet", *options], cwd=tools.folder,
                                        env=environment, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self):
        """Exit code, standard output, standard error."""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def start(tools, plan, *options, ranks=RANKS, **extra):
    port = free_port()
    return [Rank(tools, rank, plan, port, *options, ranks=ranks, **extra) for rank in range(ranks)]


def ends(ranks):
    return [rank.end() for rank in ranks]


def expect(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: found {found!r}, expected {wanted!r}")


def expect_in(part, text, what):
    if part not in text:
        raise AssertionError(f"{what}: {text!r} does not contain {part!r}")


def history(summary):
    return [(step["loss"], step["gradient_norm"]) for step in summary["history"]]


def trains_to_the_same_bits(tools):
    local = tools.train(tools.compile(vime.job("1f1b", RANKS, steps=5, export="local"), "local"))
    plan = tools.compile(vime.job("1f1b", RANKS, steps=5, export="launched"), "launched")
    for launcher in SIZES:
        ended = ends(start(tools, plan, "--json", launcher=launcher))
        for rank, (code, out, err) in enumerate(ended):
            expect((code, err), (0, ""), f"rank {rank} by {launcher}")
            expect(bool(out), rank == 0, f"rank {rank} by {launcher} prints")
        expect(history(vime.json.loads(ended[0][1])), history(local), f"losses by {launcher}")
    expect(vime.tensors(tools.folder / "launched"), vime.tensors(tools.folder / "local"), "parameters")


def resumes(tools):
    saving = "checkpoint: {dir: saved, every: 2 steps}\n"
    plan = tools.compile(vime.job("1f1b", RANKS, steps=6) + saving, "saving")
    whole = vime.json.loads(ends(start(tools, plan, "--json"))[0][1])
    for steps in (4, 6):
        shutil.rmtree(tools.folder / "saved" / f"step-{steps:06}")
    ended = ends(start(tools, plan, "--json", "--resume"))
    for rank, (code, _, err) in enumerate(ended):
        expect((code, err), (0, ""), f"rank {rank} that resumes")
    expect(history(vime.json.loads(ended[0][1])), history(whole)[2:], "losses behind the checkpoint")


def refuses_another_plan(tools):
    plan = tools.compile(vime.job("1f1b", RANKS, steps=5), "one")
    other = tools.compile(vime.job("1f1b", RANKS, steps=6), "other")
    port = free_port()
    ranks = [Rank(tools, rank, other if rank == 2 else plan, port) for rank in range(RANKS)]
    for code, _, err in ends(ranks):
        expect((code, err), (4, "error: rank 2 runs another plan than rank 0\n"), "another plan")


def refuses_another_world_size(tools):
    plan = tools.compile(vime.job("1f1b", 2, steps=5), "two")
    larger = tools.compile(vime.job("1f1b", 4, steps=5), "four")
    port = free_port()
    ranks = [Rank(tools, 0, plan, port, ranks=2), Rank(tools, 1, larger, port, ranks=4)]
    for code, _, err in ends(ranks):
        expect((code, err), (4, "error: rank 1 was started as one of 4 ranks, rank 0 as one of 2\n"), "world size")
    for rank, (code, _, err) in enumerate(ends(start(tools, plan, ranks=3))):
        expect(code, 4, f"rank {rank} of three for a plan of two: {err}")


def refuses_another_version(tools):
    """A peer that speaks the store's protocol and says it is vime 99."""
    plan = tools.compile(vime.job("1f1b", 2, steps=5), "two")
    port = free_port()
    rank = Rank(tools, 0, plan, port, ranks=2)
    text = lambda value: struct.pack("<Q", len(value)) + value
    with connected(port) as store:
        store.sendall(struct.pack("<BI", 0, 0x3C85F7CE) + b"\x01" + text(b"vime/0/0/attendance/1")
                      + text(b"vime 99.0.0\n2\n-\n127.0.0.1"))
        code, _, err = rank.end()
    expect(code, 4, "another version")
    expect_in("error: rank 1 runs vime 99.0.0, rank 0 runs vime ", err, "another version")


def connected(port):
    limit = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=20)
        except OSError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.02)


def tells_all_of_a_rank_that_cannot_come(tools):
    plan = tools.compile(vime.job("1f1b", RANKS, steps=5), "one")
    for absent in (0, 3):
        port, began = free_port(), time.monotonic()
        ranks = [Rank(tools, rank, "missing.bin" if rank == absent else plan, port) for rank in range(RANKS)]
        for rank, (code, _, err) in enumerate(ends(ranks)):
            expect(code, 3 if rank == absent else 5, f"exit code of rank {rank}")
            expect_in("" if rank == absent else f"rank {absent} failed: ", err, f"rank {rank}")
            expect_in("missing.bin", err, f"rank {rank}")
        assert time.monotonic() - began < 20, "the others waited for a rank that cannot come"


def ends_when_a_rank_is_killed(tools):
    plan = tools.compile(vime.job("1f1b", RANKS, steps=100000), "long")
    with tempfile.TemporaryDirectory() as temporary:
        ranks = start(tools, plan, TMPDIR=temporary)
        (folder,) = await_records(temporary, begun=100)
        ranks[2].process.send_signal(signal.SIGKILL)
        began = time.monotonic()
        for rank, (code, _, err) in enumerate(ends(ranks)):
            expect(code, -signal.SIGKILL if rank == 2 else 5, f"exit code of rank {rank}: {err}")
            if rank != 2:
                expect_in(f"\n  = help: `vimec explain {folder}` shows what", err, f"message of rank {rank}")
        assert time.monotonic() - began < 5, "ranks that lost a peer did not end within 5 s"
        told = vime.json.loads(tools.run("vimec", "explain", folder, "--json").stdout)
        expect((len(told["ranks"]), told["first"]["rank"]), (RANKS, 2), "what the records tell")


def await_records(folder, begun):
    """The folder of the records, once each rank has begun that many actions."""
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        found = list(pathlib.Path(folder).glob("vime-records-*/rank-*.flight"))
        if len(found) == RANKS and all(struct.unpack_from("<Q", file.read_bytes(), 128)[0] >= begun for file in found):
            return {file.parent for file in found}
        time.sleep(0.01)
    raise AssertionError("the ranks leave no records")


def leaves_no_record_of_a_run_that_ends_well(tools):
    plan = tools.compile(vime.job("1f1b", RANKS, steps=3), "short")
    with tempfile.TemporaryDirectory() as temporary:
        for code, _, err in ends(start(tools, plan, TMPDIR=temporary)):
            expect((code, err), (0, ""), "a short run")
        expect(os.listdir(temporary), [], "files that are left")


CONNECT, FAREWELL = 2.0, 5.0  # seconds


def who_does_not_come(tools, what, strike, absent):
    """Of ranks that meet, what the others say of one that does not come, and when."""
    limits = f"limits: {{connect: {CONNECT}s}}\n"
    plan = tools.compile(vime.job("1f1b", RANKS, steps=100000) + limits, "waiting")
    port, began, ranks = free_port(), time.monotonic(), []
    for rank in range(RANKS):
        if rank != absent or strike:
            ranks.append(Rank(tools, rank, plan, port))
        if rank == absent and strike:
            ranks[-1].process.send_signal(strike)
    for rank in ranks:
        if rank.rank != absent:
            code, _, err = rank.end()
            expect(code, 5, f"exit code of rank {rank.rank} when rank {absent} is {what}: {err}")
            wanted = "the store of rank 0 at 127.0.0.1:" if absent == 0 else f"rank {absent} did not come in time"
            expect_in(wanted, err, f"rank {rank.rank} of a rank that is {what}")
    seconds = time.monotonic() - began
    assert seconds < CONNECT + FAREWELL, f"the others took {seconds:.1f} s when rank {absent} was {what}"
    for rank in ranks:
        rank.process.kill()
        rank.process.communicate()


def says_who_does_not_come(tools):
    for what, strike in [("missing", None), ("killed", signal.SIGKILL), ("stopped", signal.SIGSTOP)]:
        for absent in (0, 2):
            who_does_not_come(tools, what, strike, absent)


def says_what_is_wrong_with_a_launch(tools):
    plan = tools.compile(vime.job("1f1b", 2, steps=5), "two")
    for options, extra, wanted in [
            ((), {"MASTER_PORT": "no"}, "error: `MASTER_PORT=no` is no number\n  = help: "),
            (("--transport", "local"), {}, "ranks that torchrun starts meet over gloo, not over local"),
            (("--interface", "none0"), {}, "no network interface `none0` with an address is here")]:
        code, _, err = Rank(tools, 0, plan, free_port(), *options, ranks=2, **extra).end()
        expect(code, 2, f"exit code with {options} {extra}: {err}")
        expect_in(wanted, err, f"{options} {extra}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tools = vime.Tools(pathlib.Path(sys.argv[1]).resolve(), folder)
        vime.corpus(tools.folder)
        for check in [trains_to_the_same_bits, resumes, refuses_another_plan, refuses_another_world_size,
                      refuses_another_version, tells_all_of_a_rank_that_cannot_come, ends_when_a_rank_is_killed,
                      leaves_no_record_of_a_run_that_ends_well, says_who_does_not_come,
                      says_what_is_wrong_with_a_launch]:
            check(tools)
            print(check.__name__.replace("_", " "), flush=True)


if __name__ == "__main__":
    main()
