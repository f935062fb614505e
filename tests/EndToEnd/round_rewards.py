"""Rewards by a rule, by commands and by a service are the same numbers, and leave nobody behind.

    round_rewards.py FOLDER_OF_BINARIES

A run is trained by a rule, by three workers of a command that know the same rule, of which one dies and one hangs, and by an
HTTP service that is busy now and then: to the same bits. An interrupted run, one whose first rank is killed, and one that
has lost all its workers leave no worker behind.
"""

import contextlib
import http.server
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import threading
import time

import round_faults
import rounds
import vime

FAIL, INTERRUPTED = 5, 130

# The rule of rounds.job, as a worker: in a mode that only the first to ask for it has.
JUDGE = """import json, os, re, sys, time
def first(mode):
    try:
        os.close(os.open(mode, os.O_CREAT | os.O_EXCL))
        return mode in sys.argv
    except FileExistsError:
        return False
for line in sys.stdin:
    if "deaf" in sys.argv:
        time.sleep(3600)
    if "dies" in sys.argv and first("dies"):
        sys.exit("no more")
    if "hangs" in sys.argv and first("hangs"):
        time.sleep(3600)
    request = json.loads(line)
    score = 1.0 if re.search("[a-m]", request["response"]) else 0.0
    print(json.dumps({"id": request["id"], "score": score}), flush=True)
"""


def command(*modes, **more):
    settings = "".join(f", {key}: {value}" for key, value in more.items())
    return f'{{command: "{sys.executable} judge.py {" ".join(modes)}"{settings}}}'


class Judge(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answered = 0

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Judge.answered += 1
        busy = Judge.answered % 7 == 0
        body = b"busy" if busy else json.dumps(
            {"id": request["id"], "score": 1.0 if re.search("[a-m]", request["response"]) else 0.0}).encode()
        self.send_response(503 if busy else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def service():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/score"
    server.shutdown()


def workers(folder):
    """Processes of the command that run in the folder."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.path.samefile(f"/proc/{process}/cwd", folder) and "judge.py" in open(f"/proc/{process}/cmdline").read():
                found.append(int(process))
    return found


def ends(folder):
    """Whether all of them end, who have been killed."""
    deadline = time.monotonic() + 20
    while workers(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not workers(folder)


def same_bits(checks, tools):
    expected, _ = rounds.result(tools)
    for text, reward in [("workers", command(workers=3)),
                         ("workers, of which one dies", command("dies", workers=3)),
                         ("workers, of which one hangs", command("hangs", workers=3, timeout="3s"))]:
        found, _ = rounds.result(tools, engines=2, reward=reward)
        checks.say(found == expected, f"{text:30} bits")
    checks.say(all((tools.folder / mode).exists() for mode in ("dies", "hangs")), "one has died and one has hung")
    with service() as url:
        found, _ = rounds.result(tools, reward=f"{{url: \"{url}\", workers: 2}}")
        checks.say(found == expected, f"{'service, now and then busy':30} bits")
        checks.say(Judge.answered > 3 * 6 * 4, f"it was asked {Judge.answered} times")
    checks.say(ends(tools.folder), "no worker is left")


def dumps(checks, tools):
    """What is dumped is what was generated, scored and told."""
    (_, told, _), _ = rounds.result(tools, rollout=", dump: dumps")
    for one in told[:3]:
        head, *samples = [json.loads(line) for line in open(tools.folder / f"dumps/round-{one['round']:06}.jsonl")]
        rewards = [sample["reward"] for sample in samples]
        right = [bool(re.search("[a-m]", sample["response_text"])) for sample in samples]
        checks.say(head["samples"] == len(samples) == 6 * 4 and sum(sample["trained"] for sample in samples) == 4 * 4
                   and rewards == right and abs(sum(rewards) / len(rewards) - head["reward_mean"]) < 1e-12
                   and all(len(sample["tokens"]) - sample["prompt_tokens"] == len(sample["log_probabilities"])
                           and sample["version"] == one["version"] for sample in samples), f"dump of round {one['round']}")


def nobody_left(checks, tools):
    plan = tools.compile(rounds.job(reward=command("deaf", workers=2, timeout="60s", retries=0),
                                   more="limits:    {connect: 20s, transfer: 100s}\n"))
    for transport, kind in [("local", signal.SIGINT), ("gloo", signal.SIGINT), ("gloo", signal.SIGKILL)]:
        run = round_faults.Started(tools, plan, transport=transport)
        while len(workers(tools.folder)) < 2 and run.program.poll() is None:
            time.sleep(0.02)
        rank = run.await_action(0, 12)  # where it waits for rewards, or soon will
        if kind == signal.SIGKILL:
            os.kill(rank, kind)
        else:
            run.program.send_signal(kind)
        code, message, seconds = run.finish(60)
        expected = FAIL if kind == signal.SIGKILL else INTERRUPTED
        checks.say(code == expected and seconds < 10, f"{kind.name}, {transport}: {code} after {seconds:.1f} s")
        checks.say(ends(tools.folder), "and no worker is left")
    plan = tools.compile(rounds.job(reward=command("deaf", workers=2, timeout="1s")))
    code, message, _ = round_faults.Started(tools, plan, transport="local").finish(60)
    checks.say(code == 6 and "0 of 2 reward workers are left, 1 are needed" in message
               and "of draw 0 of an evaluation" in message, f"{code}: {message}")
    checks.say(ends(tools.folder), "and no worker is left")


def main(binaries):
    checks = rounds.Checks()
    os.environ["no_proxy"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as folder:
        tools = vime.Tools(binaries, pathlib.Path(folder))
        rounds.prompts(tools.folder)
        (tools.folder / "judge.py").write_text(JUDGE)
        same_bits(checks, tools)
        dumps(checks, tools)
        nobody_left(checks, tools)
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
