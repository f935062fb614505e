"""Runs the tools as a user does: a job file in, a plan, a run, an export out."""

import json
import pathlib
import struct
import subprocess

TINY = "{family: llama, layers: 8, hidden: 32, heads: 4, kv_heads: 2, ffn: 88, vocab: 256, dtype: float32}"


def job(schedule, ranks, *, replicas=1, chunks=None, microbatches=8, steps=20, model=TINY, export=None, sequence=32,
        samples=2, pipeline=None, recompute=False, shard=False, more=""):
    """The text of a job that trains a tiny decoder on `corpus.txt` beside it: `replicas` pipelines of `ranks` ranks, which
    share the microbatches of a step."""
    axes = f"pp: {ranks}" + (f", dp: {replicas}" if replicas > 1 else "") + (", shard: true" if shard else "")
    ranks, microbatches = ranks * replicas, microbatches // replicas
    chunk = (f", chunks: {chunks}" if chunks else "") + (f", {pipeline}" if pipeline else "")
    exports = f", export: {export}" if export else ""
    memory = "\nmemory:    {recompute: layer}" if recompute else ""
    return f"""version: 1
name: test
cluster:   {{ranks: {ranks}, device: cpu}}
models:
  tiny:    {model}
roles:
  actor:   {{model: tiny, ranks: 0-{ranks - 1}, parallel: {{{axes}}}}}
pipeline:  {{schedule: {schedule}{chunk}, microbatches: {microbatches}, microbatch: {samples} samples}}
data:      {{text: corpus.txt, sequence: {sequence} tokens}}
optimizer: {{kind: adamw, lr: 1.0e-3, clip: 1.0}}{memory}
run:       {{steps: {steps}, seed: 7{exports}}}
{more}"""


def corpus(folder, size=1 << 16):
    """A text that is the same everywhere and has something to learn."""
    words = "the plan names what every rank does and when it does it so that nobody has to decide while it runs".split()
    state, text, length = 1, [], 0
    while length < size:
        state = (state * 1103515245 + 12345) % (1 << 31)
        text.append(words[(state >> 16) % len(words)])
        length += len(text[-1]) + 1
    (folder / "corpus.txt").write_text(" ".join(text)[:size])


class Tools:
    """`vimec` and `vime-exec` of one build, working in one folder."""

    def __init__(self, binaries, folder):
        self.binaries, self.folder = pathlib.Path(binaries), pathlib.Path(folder)

    def run(self, tool, *arguments, expect=0, timeout=120):
        done = subprocess.run([self.binaries / tool, *map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True, timeout=timeout, stdin=subprocess.DEVNULL)
        if done.returncode != expect:
            raise AssertionError(f"{tool} {' '.join(map(str, arguments))}: exit code {done.returncode}, expected "
                                 f"{expect}\n{done.stdout}{done.stderr}")
        return done

    def compile(self, text, name="job", *options):
        (self.folder / f"{name}.yaml").write_text(text)
        self.run("vimec", f"{name}.yaml", "-o", f"{name}.bin", *options)
        return f"{name}.bin"

    def train(self, plan, *options):
        """The summary of the run."""
        return json.loads(self.run("vime-exec", plan, "--quiet", "--json", *options).stdout)


def tensors(directory):
    """All tensors of a Hugging Face directory: name -> (dtype, shape, bytes)."""
    found = {}
    for file in sorted(pathlib.Path(directory).glob("*.safetensors")):
        data = file.read_bytes()
        (length,) = struct.unpack_from("<Q", data)
        for name, entry in json.loads(data[8:8 + length]).items():
            if name == "__metadata__":
                continue
            first, last = entry["data_offsets"]
            if name in found:
                raise AssertionError(f"tensor {name} stands in two files of {directory}")
            found[name] = (entry["dtype"], tuple(entry["shape"]), data[8 + length + first:8 + length + last])
    return found
