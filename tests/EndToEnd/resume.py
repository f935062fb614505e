"""A run that is saved, ended in any way and resumed comes to the same bits as one that was never interrupted.

    resume.py BIN [--all]      fast checks, or also many kills on both transports
"""

import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import vime

STEPS, EVERY = 12, 4


def job(schedule="1f1b", ranks=4, *, replicas=1, chunks=None, steps=STEPS, keep=None, seed=7, model=vime.TINY):
    text = vime.job(schedule, ranks, replicas=replicas, chunks=chunks, steps=steps, export="model", model=model)
    text = text.replace("seed: 7", f"seed: {seed}")
    keeps = f", keep: {keep}" if keep else ""
    return text + f"checkpoint: {{dir: run.ckpt, every: {EVERY} steps{keeps}}}\n"


def history(summary):
    return [(step["step"], step["loss"], step["gradient_norm"]) for step in summary["history"]]


class Resume:
    def __init__(self, binaries, folder):
        self.tools = vime.Tools(binaries, folder)
        self.folder = pathlib.Path(folder)
        self.checkpoints = self.folder / "run.ckpt"
        self.checked = 0

    def check(self, what, found, expected):
        if found != expected:
            raise AssertionError(f"{what}: {found!r}, expected {expected!r}")
        self.checked += 1

    def names(self):
        return sorted(path.name for path in self.checkpoints.iterdir())

    def clear(self):
        shutil.rmtree(self.checkpoints, ignore_errors=True)
        shutil.rmtree(self.folder / "model", ignore_errors=True)

    def only(self, *steps):
        """Lets the reference's checkpoints behind these steps be there, and no others."""
        self.clear()
        self.checkpoints.mkdir()
        for step in steps:
            shutil.copytree(self.folder / f"kept/step-{step:06}", self.checkpoints / f"step-{step:06}")

    def parameters(self):
        return vime.tensors(self.folder / "model")

    def reference(self):
        self.plan = self.tools.compile(job(), "reference")
        plain = self.tools.compile(vime.job("1f1b", 4, steps=STEPS, export="model"), "plain")
        unsaved = self.tools.train(plain)
        self.expected = self.parameters()
        self.history = history(unsaved)
        self.clear()
        summary = self.tools.train(self.plan)
        self.check("losses of a run that saves itself", history(summary), self.history)
        self.check("its parameters", self.parameters() == self.expected, True)
        self.check("saved behind", summary["saved"], [4, 8, 12])
        self.check("checkpoints", self.names(), ["step-000004", "step-000008", "step-000012"])
        shutil.copytree(self.checkpoints, self.folder / "kept")

    def same_from(self, step, plan, *options, what):
        self.only(step)
        summary = self.tools.train(plan, "--resume", *options)
        self.check(f"losses {what}", history(summary), self.history[step:])
        self.check(f"parameters {what}", self.parameters() == self.expected, True)

    def bits(self, transports):
        for step in (4, 8, 12):
            self.same_from(step, self.plan, what=f"resumed behind step {step}")
        for transport in transports:
            self.same_from(8, self.plan, "--transport", transport, what=f"resumed over {transport}")
        others = [("gpipe", 2, None), ("interleaved", 2, 2), ("zb-h1", 4, None), ("1f1b", 1, None)]
        for schedule, ranks, chunks in others:
            plan = self.tools.compile(job(schedule, ranks, chunks=chunks), f"{schedule}-{ranks}")
            self.same_from(4, plan, what=f"resumed on {ranks} ranks in order {schedule}")

    def replicas(self):
        """Two replicas: their own bits again; from one replica to two, the sums of gradients in another order."""
        plan = self.tools.compile(job(ranks=2, replicas=2), "replicas")
        self.clear()
        whole = history(self.tools.train(plan))
        expected = self.parameters()
        self.check("the leading replica's shards", len(list(self.checkpoints.glob("step-000008/*.safetensors"))), 2)
        shutil.rmtree(self.checkpoints / "step-000012")
        self.check("losses of replicas resumed", history(self.tools.train(plan, "--resume")), whole[8:])
        self.check("their parameters", self.parameters() == expected, True)
        self.only(8)
        for (step, loss, _), (_, reference, _) in zip(history(self.tools.train(plan, "--resume")), self.history[8:]):
            self.check(f"step {step} on two replicas within 1e-6", abs(loss - reference) <= 1e-6 * abs(reference), True)

    def tied(self):
        """A head that computes with a copy of the embedding has it from the first step on."""
        model = vime.TINY.replace("family: llama", "family: llama, tied: true")
        plan = self.tools.compile(job(ranks=2, model=model), "tied")
        self.clear()
        whole = history(self.tools.train(plan))
        expected = self.parameters()
        shutil.rmtree(self.checkpoints / "step-000012")
        self.check("losses of a tied model resumed", history(self.tools.train(plan, "--resume")), whole[8:])
        self.check("its parameters", self.parameters() == expected, True)

    def rounded(self):
        """Of bfloat16 the masters are saved, and the weights made from them."""
        plans = [self.tools.compile(job(schedule, ranks, model=vime.TINY.replace("float32", "bfloat16")), f"narrow-{ranks}")
                 for schedule, ranks in (("1f1b", 4), ("zb-h1", 2))]
        self.clear()
        whole = history(self.tools.train(plans[0]))
        expected = self.parameters()
        saved = vime.tensors(self.checkpoints / "step-000008")
        self.check("types in its checkpoint", {dtype for dtype, _, _ in saved.values()}, {"F32"})
        self.check("types in its export", {dtype for dtype, _, _ in expected.values()}, {"BF16"})
        for plan in plans:
            shutil.rmtree(self.checkpoints / "step-000012")
            self.check("losses of bfloat16 resumed", history(self.tools.train(plan, "--resume")), whole[8:])
            self.check("its parameters", self.parameters() == expected, True)

    def longer(self):
        """A run that has come to its end goes on when it is given more steps."""
        self.only(12)
        plan = self.tools.compile(job(steps=16), "longer")
        summary = self.tools.train(plan, "--resume")
        self.check("steps behind the end", [step["step"] for step in summary["history"]], [12, 13, 14, 15])
        resumed = self.parameters()
        self.clear()
        self.tools.train(plan)
        self.check("parameters of the longer run", self.parameters() == resumed, True)

    def keep(self):
        self.clear()
        plan = self.tools.compile(job(keep=2), "keep")
        self.tools.train(plan)
        self.check("the newest two", self.names(), ["step-000008", "step-000012"])

    def refusals(self):
        self.only(4, 8)
        run = lambda *options, expect: self.tools.run("vime-exec", *options, expect=expect).stderr
        fresh = run(self.plan, expect=3)
        self.check("a fresh run among checkpoints", "the newest behind step 8" in fresh, True)
        shard = self.checkpoints / "step-000008/stage-00001-of-00004.safetensors"
        damaged = bytearray(shard.read_bytes())
        damaged[-1] ^= 1
        shard.write_bytes(damaged)
        summary = self.tools.run("vime-exec", self.plan, "--resume", "--json", "--quiet")
        self.check("the damaged one is named", "note: skipped a checkpoint" in summary.stderr and
                   "stage-00001-of-00004.safetensors" in summary.stderr, True)
        self.check("parameters from the older one", self.parameters() == self.expected, True)
        self.check("the damaged one was replaced", self.names(), ["step-000004", "step-000008", "step-000012"])

        other = self.tools.compile(job(seed=8), "other")
        foreign = run(other, "--resume", expect=4)
        self.check("another seed", "`run.seed` is 7 there and 8 in the plan" in foreign, True)
        short = self.tools.compile(job(steps=6), "short")
        self.check("a shorter plan", "the plan ends with step 6" in run(short, f"--resume={self.checkpoints}/step-000008",
                                                                        expect=4), True)
        self.clear()
        self.check("none", "there is no checkpoint in" in run(self.plan, "--resume", expect=3), True)
        self.check("none in another place", "there is no checkpoint in `nowhere`" in
                   run(self.plan, "--resume=nowhere", expect=3), True)
        summary = self.tools.train(self.plan, "--resume-if-any")
        self.check("if there is any", history(summary), self.history)

    def full_disk(self):
        """No file may grow beyond a shard's beginning: the save fails, the run ends, what was there stays."""
        self.only(4)
        before = self.names()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a full disk sends no signal; inherited
        done = subprocess.run([self.tools.binaries / "vime-exec", self.plan, "--quiet", "--resume"], cwd=self.folder,
                              preexec_fn=limit, restore_signals=False, capture_output=True, text=True, timeout=60)
        self.check("exit code of a run that cannot save itself", (done.returncode, done.stderr), (3, done.stderr))
        self.check("its message", "checkpoint_shard" in done.stderr and "File too large" in done.stderr, True)
        self.tools.train(self.plan, "--resume")
        self.check("parameters after room was made", self.parameters() == self.expected, True)
        self.check("the older one stayed", set(before) <= set(self.names()), True)

    def kills(self, count, seed, *options):
        """Killed at random moments until it comes to its end."""
        dice = random.Random(seed)
        for _ in range(count):
            self.clear()
            interrupted = 0
            while True:
                process = subprocess.Popen([self.tools.binaries / "vime-exec", self.plan, "--quiet", "--resume-if-any",
                                            *options], cwd=self.folder, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE, text=True)
                try:
                    # Later and later, so that it ends at some time.
                    error = process.communicate(timeout=dice.uniform(0.02, 0.3) * (1 + interrupted / 2))[1]
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    interrupted += 1
                    continue
                self.check(f"exit code after {interrupted} kills", (process.returncode, error), (0, error))
                break
            self.check(f"parameters after {interrupted} kills", self.parameters() == self.expected, True)
            self.check("nothing half-written", [name for name in self.names() if not name.startswith("step-0")] +
                       [name for name in self.names() if "." in name], [])


def main():
    binaries, everything = sys.argv[1], "--all" in sys.argv[2:]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="vime-resume-") as folder:
        vime.corpus(pathlib.Path(folder))
        resume = Resume(binaries, folder)
        resume.reference()
        resume.bits(["gloo"] if everything else [])
        resume.replicas()
        resume.tied()
        resume.rounded()
        resume.keep()
        resume.longer()
        resume.refusals()
        resume.full_disk()
        resume.kills(20 if everything else 2, seed=1)
        if everything:
            resume.kills(10, 2, "--transport", "gloo")
        print(f"{resume.checked} comparisons hold, {time.monotonic() - started:.1f} s")


main()
