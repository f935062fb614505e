"""A decoder trains with the kernels of LibTorch as it does with the native ones, up to rounding.

    libtorch_kernels.py FOLDER_OF_BINARIES

Losses, of each number of ranks and transport, against one rank with native kernels: float64 within 1e-10, float32 within 1e-6
in the first three steps and 1e-4 after 20. A run is resumed to the same bits, also by more ranks; exports
have the same tensors. Without the plug-in, or with one of another version, a plan is refused and a native one still runs.
"""

import pathlib
import shutil
import sys
import tempfile

import vime

WIDE = vime.TINY.replace("float32", "float64")
QWEN3 = "{family: qwen3, layers: 8, hidden: 32, heads: 4, kv_heads: 2, head_width: 12, ffn: 88, vocab: 256, dtype: float64}"
QWEN2 = "{family: qwen2, layers: 8, hidden: 32, heads: 4, kv_heads: 2, ffn: 88, vocab: 256, tied: true, dtype: float64}"
LIBTORCH = ("--set", "cluster.kernels=libtorch")


def compiled(tools, text, *settings, name="job"):
    (tools.folder / f"{name}.yaml").write_text(text)
    tools.run("vimec", f"{name}.yaml", "-o", f"{name}.bin", *settings)
    return f"{name}.bin"


def losses(summary):
    return [step["loss"] for step in summary["history"]]


class Judge:
    """Counts what does not hold."""

    def __init__(self):
        self.failures = 0

    def say(self, holds, text):
        self.failures += not holds
        print(f"{text}  {'ok' if holds else 'WRONG'}", flush=True)

    def near(self, expected, found, text, first, last):
        """Relative, of the first three steps and of all."""
        off = [abs(one / other - 1) for one, other in zip(found, expected, strict=True)]
        self.say(max(off[:3]) <= first and max(off) <= last, f"{text:44} off by {max(off[:3]):.1e}, after {len(off)} steps by {max(off):.1e}")


def trains(tools, judge):
    for name, model, runs in [
            ("llama float64", WIDE, [("gpipe", 1, "local"), ("1f1b", 2, "gloo")]),
            ("llama float32", vime.TINY, [("1f1b", 4, "local")]),
            ("qwen2 tied float64", QWEN2, [("1f1b", 2, "local")]),
            ("qwen3 recomputed float64", QWEN3, [("zb-h1", 4, "local")])]:
        more = {"model": model, "recompute": "recomputed" in name, "steps": 6 if "float64" in name else 20}
        native = tools.train(compiled(tools, vime.job("gpipe", 1, **more)))
        for schedule, ranks, transport in runs:
            found = tools.train(compiled(tools, vime.job(schedule, ranks, **more), *LIBTORCH), "--transport", transport)
            bounds = (1e-10, 1e-10) if "float64" in name else (1e-6, 1e-4)
            judge.near(losses(native), losses(found), f"{name}, pp {ranks} {schedule} {transport}", *bounds)


def resumes_and_exports(tools, judge):
    def text(ranks):
        return (vime.job("1f1b", ranks, export="out", model=WIDE, steps=10) + "checkpoint: {dir: saved, every: 5 steps}\n")
    whole = tools.train(compiled(tools, text(2), *LIBTORCH))
    exported = vime.tensors(tools.folder / "out")
    shutil.rmtree(tools.folder / "saved" / "step-000010")
    refusal = tools.run("vime-exec", compiled(tools, text(2)), "--quiet", "--resume", expect=4).stderr
    judge.say("`model.kernels` is libtorch there and native in the plan" in refusal, "not resumed with other kernels")
    rest = tools.train(compiled(tools, text(4), *LIBTORCH), "--resume")
    same = losses(rest) == losses(whole)[5:] and vime.tensors(tools.folder / "out") == exported
    judge.say(same, "resumed by 4 ranks instead of 2: the same bits")
    tools.train(compiled(tools, vime.job("gpipe", 1, export="native", model=WIDE, steps=1)))
    native = vime.tensors(tools.folder / "native")
    judge.say({name: tensor[:2] for name, tensor in native.items()} ==
              {name: tensor[:2] for name, tensor in exported.items()}, "exports have the same tensors")


def is_refused_without(tools, judge, binaries):
    """In a folder with vime-exec alone, and beside something that is no plug-in of this program."""
    elsewhere = tools.folder / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(binaries / "vime-exec", elsewhere)
    alone = vime.Tools(elsewhere, tools.folder)
    native, torch = (compiled(tools, vime.job("gpipe", 1, steps=1), *settings, name=name)
                     for name, settings in (("native", ()), ("torch", LIBTORCH)))
    alone.run("vime-exec", native, "--quiet")
    refusal = alone.run("vime-exec", torch, "--quiet", expect=4).stderr
    judge.say("LibTorch, which the plan needs, is not available: `libvime_libtorch.so` is in none of the folders" in refusal,
              "without the plug-in: exit code 4 and a sentence")
    # The plug-in of Gloo has not the number of this one.
    shutil.copy(binaries.parent / "lib" / "libvime_gloo.so", elsewhere / "libvime_libtorch.so")
    refusal = alone.run("vime-exec", torch, "--quiet", expect=4).stderr
    judge.say("is of another version than this program" in refusal, "another version of it: exit code 4 and a sentence")
    refusal = tools.run("vime-exec", torch, "--quiet", "--isa", "avx2", expect=4).stderr
    judge.say("`--isa` chooses among the native kernels" in refusal, "with `--isa`: exit code 4 and a sentence")


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        tools, judge = vime.Tools(binaries, folder), Judge()
        vime.corpus(tools.folder)
        trains(tools, judge)
        resumes_and_exports(tools, judge)
        is_refused_without(tools, judge, binaries)
    return 1 if judge.failures else 0


if __name__ == "__main__":
    sys.exit(main())
