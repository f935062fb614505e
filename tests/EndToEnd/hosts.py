"""Several hosts: two network namespaces joined by a cable, two ranks in each, trained to the bits of a local run.

    hosts.py FOLDER_OF_BINARIES

Exit code 77, with the reason, where the machine allows no namespaces.
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

import vime

ADDRESSES = ["10.213.7.1", "10.213.7.2"]
SKIPPED = 77


def ip(*arguments):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"`ip {' '.join(arguments)}`: {done.stderr.strip()}")


class Hosts:
    """Two namespaces with a cable between them; gone at the end."""

    def __init__(self):
        self.names = [f"vime-{os.getpid()}-{host}" for host in range(2)]
        self.ends = [f"v{os.getpid()}e{host}" for host in range(2)]

    def __enter__(self):
        try:
            for name in self.names:
                ip("netns", "add", name)
            ip("link", "add", self.ends[0], "netns", self.names[0], "type", "veth",
               "peer", "name", self.ends[1], "netns", self.names[1])
            for name, end, address in zip(self.names, self.ends, ADDRESSES):
                ip("-n", name, "address", "add", f"{address}/24", "dev", end)
                ip("-n", name, "link", "set", "lo", "up")
                ip("-n", name, "link", "set", end, "up")
        except OSError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)

    def start(self, host, command, folder, environment):
        return subprocess.Popen(["ip", "netns", "exec", self.names[host], *command], cwd=folder, text=True,
                                env={"PATH": os.environ["PATH"], **environment}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(hosts, tools, plan, options_of):
    """(exit code, output, errors) of four ranks, two on each host."""
    ranks = [hosts.start(rank // 2, [tools.binaries / "vime-exec", plan, "--quiet", "--json", *options_of(rank)],
                         tools.folder, {"RANK": str(rank), "WORLD_SIZE": "4", "MASTER_ADDR": ADDRESSES[0],
                                        "MASTER_PORT": "29500"})
             for rank in range(4)]
    return [(*rank.communicate(timeout=60), rank.returncode) for rank in ranks]


def losses(summary):
    return [step["loss"] for step in summary["history"]]


def check(hosts, tools):
    local = tools.train(tools.compile(vime.job("interleaved", 4, chunks=2, steps=5, export="local"), "local"))
    plan = tools.compile(vime.job("interleaved", 4, chunks=2, steps=5, export="apart"), "apart")
    for options_of in [lambda rank: (), lambda rank: ("--interface", hosts.ends[rank // 2])]:
        ended = run(hosts, tools, plan, options_of)
        assert all(code == 0 for _, _, code in ended), ended
        assert losses(vime.json.loads(ended[0][0])) == losses(local), "losses differ"
        assert vime.tensors(tools.folder / "apart") == vime.tensors(tools.folder / "local"), "tensors differ"
    for _, errors, code in run(hosts, tools, plan, lambda rank: ("--interface", "lo") if rank == 3 else ()):
        assert code == 4 and f"rank 3 listens at 127.0.0.1 and rank 0 at {ADDRESSES[0]}" in errors, (code, errors)


def main():
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        try:
            hosts = stack.enter_context(Hosts())
        except OSError as error:
            print(f"left out: this machine allows no network namespaces: {error}")
            sys.exit(SKIPPED)
        tools = vime.Tools(pathlib.Path(sys.argv[1]).resolve(), folder)
        vime.corpus(tools.folder)
        check(hosts, tools)
    print("two hosts with two ranks each train to the bits of one process")


if __name__ == "__main__":
    main()
