"""Ranks under the real torchrun, and the store's protocol against the real TCPStore of PyTorch.

    torchrun.py FOLDER_OF_BINARIES
"""

import datetime
import pathlib
import subprocess
import sys
import tempfile

import torch.distributed as distributed

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "EndToEnd"))
import launched
import vime
from launched import expect, expect_in, free_port, history

RANKS = 4
FAILS_ONCE = """#!/bin/bash
[[ $RANK == 1 && $TORCHELASTIC_RESTART_COUNT == 0 ]] && exec "$1" missing.bin --quiet
exec "$1" "$2" --quiet --json
"""


def torchrun(tools, options, *program):
    """An agent: the process."""
    return subprocess.Popen([sys.executable, "-m", "torch.distributed.run", *options, "--no-python", *map(str, program)],
                            cwd=tools.folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def ended(agent):
    out, err = agent.communicate(timeout=240)
    return agent.returncode, out, err


def trains_under_torchrun(tools, local, plan):
    command = [tools.binaries / "vime-exec", plan, "--quiet", "--json"]
    alone = ["--nproc-per-node", str(RANKS)]
    for how in [["--standalone"], ["--master-addr", "127.0.0.1", "--master-port", str(free_port())]]:
        code, out, err = ended(torchrun(tools, [*how, *alone], *command))
        expect(code, 0, f"torchrun {' '.join(how)}: {err}")
        expect(history(vime.json.loads(out)), local, f"losses under torchrun {' '.join(how)}")
    nodes = ["--nnodes", "2", "--nproc-per-node", "2", "--master-addr", "127.0.0.1", "--master-port", str(free_port())]
    agents = [torchrun(tools, [*nodes, "--node-rank", str(node)], *command) for node in range(2)]
    results = [ended(agent) for agent in agents]
    expect([code for code, _, _ in results], [0, 0], f"two agents: {results}")
    expect(history(vime.json.loads(results[0][1])), local, "losses of two agents")


def starts_again(tools, local, plan):
    script = tools.folder / "fails-once"
    script.write_text(FAILS_ONCE)
    script.chmod(0o755)
    options = ["--standalone", "--nproc-per-node", str(RANKS), "--max-restarts", "1"]
    code, out, err = ended(torchrun(tools, options, script, tools.binaries / "vime-exec", plan))
    expect(code, 0, f"a restart: {err}")
    expect_in("cannot read `missing.bin`", err, "the first attempt")
    expect(history(vime.json.loads(out[out.rindex('{\n  "name"'):])), local, "losses after a restart")


def ends_when_a_rank_fails(tools, plan):
    options = ["--standalone", "--nproc-per-node", str(RANKS)]
    code, _, err = ended(torchrun(tools, options, tools.binaries / "vime-exec", plan, "--base", "nowhere"))
    assert code != 0, "torchrun does not notice a rank that fails"
    expect_in("error: cannot open `nowhere/corpus.txt`", err, "a rank that fails")


def meets_in_a_store_of_pytorch(tools, local, plan):
    for libuv in (True, False):
        store = distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=libuv)
        ranks = [launched.Rank(tools, rank, plan, store.port, "--json", TORCHELASTIC_USE_AGENT_STORE="True")
                 for rank in range(RANKS)]
        results = launched.ends(ranks)
        expect([code for code, _, _ in results], [0] * RANKS, f"a store of PyTorch, libuv {libuv}: {results}")
        expect(history(vime.json.loads(results[0][1])), local, f"losses, libuv {libuv}")


def serves_clients_of_pytorch(tools, plan):
    """The store that rank 0 hosts while it waits for rank 1."""
    port = free_port()
    rank = launched.Rank(tools, 0, plan, port)
    try:
        launched.connected(port).close()
        first, second = [distributed.TCPStore("127.0.0.1", port, is_master=False, wait_for_workers=False,
                                              timeout=datetime.timedelta(seconds=20)) for _ in range(2)]
        first.set("key", "value")
        expect(second.get("key"), b"value", "get")
        expect([first.add("sum", 3), second.add("sum", 4)], [3, 7], "add")
        expect(second.check(["key", "sum"]), True, "check")
        expect(second.check(["key", "other"]), False, "check")
        try:
            first.wait(["other"], datetime.timedelta(milliseconds=200))
            raise AssertionError("wait ends without its key")
        except distributed.DistStoreError:
            pass
        second.set("other", "x" * 100000)
        first.wait(["key", "other"])
        expect(first.get("other"), b"x" * 100000, "a long value")
    finally:
        rank.process.kill()
        rank.end()


def main():
    with tempfile.TemporaryDirectory() as folder:
        tools = vime.Tools(pathlib.Path(sys.argv[1]).resolve(), folder)
        vime.corpus(tools.folder)
        plan = tools.compile(vime.job("1f1b", RANKS, steps=5))
        local = history(tools.train(plan))
        serves_clients_of_pytorch(tools, plan)
        meets_in_a_store_of_pytorch(tools, local, plan)
        trains_under_torchrun(tools, local, plan)
        starts_again(tools, local, plan)
        ends_when_a_rank_fails(tools, plan)
    print(f"under torchrun of PyTorch {distributed.torch.__version__}, and in its store, vime trains to the same bits")


if __name__ == "__main__":
    main()
