"""Runs vime's tools and the peers' scripts, and says what they took."""

import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import time

import vime

HERE = pathlib.Path(__file__).resolve().parent


def spread(values, unit, digits):
    """`4.71 s (4.70 to 4.86)`"""
    shown = [f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values))]
    return f"{shown[0]} {unit} ({shown[1]} to {shown[2]})"


class Measure:
    """One build of vime, one Python with PyTorch, one folder to work in."""

    def __init__(self, build, folder, python, rounds):
        self.build, self.folder, self.python, self.rounds = build, pathlib.Path(folder), python, rounds
        self.tools = vime.Tools(build / "bin", folder)
        vime.corpus(self.folder, size=1 << 20)

    def repeated(self, *takes):
        """For each of the functions what it gives in every round; in a round each has its turn."""
        results = [[] for _ in takes]
        for _ in range(self.rounds):
            for take, found in zip(takes, results):
                found.append(take())
        return results

    def timed(self, tool, *arguments):
        """Wall and CPU seconds of one process and its children, and what it printed."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = self.tools.run(tool, *arguments, timeout=900)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout

    def step(self, plans, *options):
        """Wall and CPU seconds of one step: two lengths of the same run, so that start and end cancel out."""
        (few, short), (many, long) = plans.items()
        cpu, wall = [], []
        for steps, plan in ((few, short), (many, long)):
            _, used, printed = self.timed("vime-exec", plan, "--quiet", "--json", *options)
            cpu.append(used)
            wall.append([entry["seconds"] for entry in json.loads(printed)["history"]])
        return statistics.mean(wall[1][few:]), (cpu[1] - cpu[0]) / (many - few)

    def plans(self, name, steps, *arguments, options=(), **model):
        """Plans of a job for two numbers of steps: number -> plan."""
        return {count: self.tools.compile(vime.job(*arguments, steps=count, **model), f"{name}-{count}", *options)
                for count in steps}

    def bench(self, name, *arguments):
        """The JSON object that a benchmark of tests/Bench prints."""
        return json.loads(subprocess.run([self.build / "tests" / name, *arguments], check=True, capture_output=True,
                                         text=True, cwd=self.folder).stdout)

    def shown(self, plan):
        return json.loads(self.tools.run("vimec", "show", plan, "--json").stdout)

    def step_units(self, plan):
        """The step of a plan when forward, input gradient and weight gradient last one unit each."""
        return self.shown(plan)["predictions"]["step_units"]

    def period(self, plan, *options):
        """Milliseconds from step to step of a plan whose stages sleep, or on a machine, as simulated."""
        return json.loads(self.tools.run("vimec", "simulate", plan, "--json", *options).stdout)["period"]

    def calibrate(self, text, name):
        """The file of a machine that ran the job over gloo."""
        (self.folder / f"{name}.yaml").write_text(text)
        self.tools.run("vimec", "calibrate", f"{name}.yaml", "-o", f"on-{name}.yaml", "--transport", "gloo", timeout=300)
        return f"on-{name}.yaml"

    def transfers_and_tasks(self, plan):
        """Actions of a step of all ranks that a peer counts too: tasks but the loss, sends and receives."""
        counted = ("forward", "backward", "backward_input", "backward_weight", "send", "receive")
        # Loops over microbatches stand in the loop over steps, which is the first one.
        return sum(math.prod(loop["trips"] for loop in rank["loops"][1:] if loop["begin"] <= index < loop["end"])
                   for rank in self.shown(plan)["programs"] for index, action in enumerate(rank["actions"])
                   if action["opcode"] in counted)

    def peer(self, script, *arguments, ranks=None):
        """The JSON object that a peer's script prints last."""
        start = [self.python] if ranks is None else [self.python, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
        done = subprocess.run([*start, HERE / "peers" / script, *map(str, arguments)], check=True, capture_output=True,
                              text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
