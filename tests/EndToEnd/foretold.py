"""What `vimec calibrate` measures on one order foretells a step of another one; it leaves nothing behind, however it ends.

    foretold.py BIN

How well it foretells is measured by tests/Bench (part `foretold`). Here other tests keep the machine busy, so what the limits
show is little. Stages that sleep need no core: their steps are known from what they declare, and a wrong order, a lost
dependency or a stage that is not counted is found. Of the decoder, whose ranks share cores with other tests, only what is
wrong by a multiple is: a unit, a part that is missing or is counted twice per microbatch.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import vime

STEPS = 8
SLEEP = "{family: sleep, layers: 4, forward: 6ms, backward_input: 6ms, backward_weight: 6ms}"
DECODER = "{family: llama, layers: 4, hidden: 64, heads: 4, ffn: 172, vocab: 256}"


class Foretold:
    def __init__(self, binaries, folder):
        self.tools, self.folder = vime.Tools(binaries, folder), pathlib.Path(folder)
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        os.environ["TMPDIR"] = str(self.temporary)
        vime.corpus(self.folder)
        self.checked = 0

    def check(self, what, holds):
        if not holds:
            raise AssertionError(what)
        self.checked += 1

    def calibrate(self, text, *options, expect=0):
        (self.folder / "calibrated.yaml").write_text(text)
        done = self.tools.run("vimec", "calibrate", "calibrated.yaml", "-o", "machine.yaml", "--steps", STEPS, *options,
                              expect=expect)
        self.check("nothing is left in the temporary folder", not list(self.temporary.iterdir()))
        told = re.search(r"follows, ([+-][0-9.]+)%", done.stderr)
        if told and abs(float(told[1])) != 20:
            self.check(f"a warning where it is off by more than 20 %: {done.stderr}",
                       ("warning: " in done.stderr) == (abs(float(told[1])) > 20))
        return done

    def other_orders(self, name, transport, orders, limits, **shape):
        """The machine of a run of 1F1B against runs of others: each at its own cost, all within the limits."""
        self.calibrate(vime.job("1f1b", 2, **shape), "--transport", transport)
        for order, chunks in orders:
            plan = self.tools.compile(vime.job(order, 2, chunks=chunks, steps=STEPS + 1, **shape), "other")
            found = json.loads(self.tools.run("vimec", "simulate", plan, "--machine", "machine.yaml", "--json").stdout)
            steps = [step["seconds"] for step in self.tools.train(plan, "--transport", transport)["history"][1:]]
            ratio = found["period"] / 1e3 / statistics.median(steps)
            print(f"{name}, {order}, {transport}: foretold {found['period']:.2f} ms, {ratio - 1:+.1%}")
            self.check(f"{name}, {order}: {ratio:.3f} of the measured step was foretold", limits[0] < ratio < limits[1])
            self.check("every cost has an origin", all(row["origin"] for row in found["cost_rows"]["rows"]))

    def files(self):
        """What the file says of a decoder, and that a run of other sizes is scaled."""
        machine = json.loads(self.tools.run("vimec", "machines", "machine.yaml", "--json").stdout)
        times = {(time["of"], time["what"]): time["seconds"] for time in machine["measured"]["times"]}
        self.check("a layer has a forward and a backward", times["layer", "forward"] < times["layer", "backward"])
        self.check("the head has a loss", times["head", "loss"] > 0)
        self.check("a layer has no loss", ("layer", "loss") not in times)
        plan = self.tools.compile(vime.job("1f1b", 2, model=DECODER.replace("ffn: 172", "ffn: 344"), samples=4, sequence=64), "wide")
        wide = self.tools.run("vimec", "simulate", plan, "--machine", "machine.yaml").stdout
        self.check("another model is scaled and says so", "scaled by the work from ffn 172" in wide)
        plan = self.tools.compile(vime.job("1f1b", 2, model=DECODER.replace("vocab: 256", "vocab: 256, dtype: float64")), "double")
        refused = self.tools.run("vimec", "simulate", plan, "--machine", "machine.yaml", expect=1).stderr
        self.check("another type is refused", "was measured in float32, the plan computes in float64" in refused)

    def what_a_run_would_write(self):
        """Checkpoints, evaluations and the export of a job are not part of a step."""
        more = "checkpoint: {dir: run.ckpt, every: 2 steps}\neval: {text: corpus.txt, every: 2 steps, samples: 16 samples}\n"
        self.calibrate(vime.job("1f1b", 2, model=DECODER, export="model", more=more))
        self.check("no checkpoint", not (self.folder / "run.ckpt").exists())
        self.check("no export", not (self.folder / "model").exists())

    def refusals(self):
        many = len(os.sched_getaffinity(0)) + 1
        done = self.calibrate(vime.job("1f1b", many, model="{family: llama, layers: 64, hidden: 8, heads: 1, ffn: 8, vocab: 256}"),
                              expect=1)
        self.check("more ranks than cores", "on a core of their own" in done.stderr)
        done = self.calibrate("version: 2\n", expect=1)
        self.check("a job that is none", "error[J" in done.stderr)
        alone = self.folder / "alone"
        alone.mkdir()
        shutil.copy(self.tools.binaries / "vimec", alone)
        (self.folder / "calibrated.yaml").write_text(vime.job("1f1b", 2, model=SLEEP))
        done = subprocess.run([alone / "vimec", "calibrate", "calibrated.yaml", "-o", "none.yaml"], cwd=self.folder,
                              capture_output=True, text=True, timeout=60)
        self.check("no vime-exec beside it", done.returncode == 3 and "cannot start" in done.stderr)
        self.check("nothing is written", not (self.folder / "none.yaml").exists())

    def interruption(self):
        """A signal ends the run too, whether a terminal or somebody else sends it."""
        (self.folder / "calibrated.yaml").write_text(vime.job("1f1b", 2, model=SLEEP.replace("6ms", "200ms")))
        for sent, to_group in ((signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGQUIT, True)):
            started = subprocess.Popen([self.tools.binaries / "vimec", "calibrate", "calibrated.yaml", "-o", "none.yaml",
                                        "--transport", "gloo"], cwd=self.folder, stderr=subprocess.PIPE, text=True,
                                       start_new_session=True)
            end = time.monotonic() + 60
            while not any(self.temporary.glob("*/plan.bin")) and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(0.5)
            os.killpg(started.pid, sent) if to_group else started.send_signal(sent)
            _, errors = started.communicate(timeout=60)
            self.check(f"exit code {started.returncode} behind {sent.name}: {errors}", started.returncode == 130)
            # A signal that somebody sends to the group, not a terminal, is passed on too, and the second one may end the run.
            most = 2 if sent == signal.SIGINT else 1
            self.check(f"says so: {errors}", 1 <= errors.count("error: interrupted") <= most)
            self.check("nothing is left in the temporary folder", not list(self.temporary.iterdir()))
            try:
                os.killpg(started.pid, 0)
                left = True
            except ProcessLookupError:
                left = False
            self.check("no process is left", not left)


def main():
    with tempfile.TemporaryDirectory() as folder:
        test = Foretold(sys.argv[1], folder)
        test.other_orders("sleep", "gloo", (("zb-h1", None), ("interleaved", 2)), (0.6, 1.2), model=SLEEP, samples=1, sequence=16)
        test.other_orders("decoder", "local", (("gpipe", None), ("zb-v", 2)), (1 / 6, 6), model=DECODER, samples=4, sequence=64)
        test.files()
        test.what_a_run_would_write()
        test.refusals()
        test.interruption()
        print(f"{test.checked} checks")


if __name__ == "__main__":
    main()
