"""Whether transformers reads what a run exports, and finds the loss that the run would go on with.

    run_in_transformers.py FOLDER_OF_BINARIES

Trains N steps and exports; trains N + 1 steps; the loss of step N there is the loss of the exported model on the same
samples, which transformers computes from the export. Which samples these are is not asked: the text is one sample long,
repeated, so that every batch is the same.
"""

import pathlib
import sys
import tempfile

import torch
from transformers import AutoModelForCausalLM

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "EndToEnd"))
import vime  # noqa: E402

SEQUENCE, STEPS = 32, 5
# transformers computes in float32 with the exported weights. Where the run computed in bfloat16, its logits were rounded,
# and what they were made from: the loss of a token is off by up to a few 2^-9 of a logit.
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 1e-3}
MODELS = {
    "llama": vime.TINY,
    "qwen2, tied": "{family: qwen2, layers: 8, hidden: 32, heads: 4, kv_heads: 2, ffn: 88, vocab: 256, tied: true}",
    "qwen3": "{family: qwen3, layers: 8, hidden: 32, heads: 4, kv_heads: 2, head_width: 12, ffn: 88, vocab: 256}",
    "llama, bfloat16": vime.TINY.replace("float32", "bfloat16"),
}


def compare(name, text):
    with tempfile.TemporaryDirectory() as folder:
        tools = vime.Tools(pathlib.Path(sys.argv[1]).resolve(), folder)
        window = bytes(range(65, 65 + SEQUENCE + 1))
        (tools.folder / "corpus.txt").write_bytes(window * 64)
        job = dict(schedule="interleaved", ranks=2, chunks=2, microbatches=4, sequence=SEQUENCE, model=text)
        tools.train(tools.compile(vime.job(steps=STEPS, export="out", **job)))
        longer = tools.train(tools.compile(vime.job(steps=STEPS + 1, **job)))
        expected = longer["history"][STEPS]["loss"]

        model, info = AutoModelForCausalLM.from_pretrained(tools.folder / "out", dtype=torch.float32,
                                                           output_loading_info=True)
        stored = AutoModelForCausalLM.from_pretrained(tools.folder / "out", dtype="auto").dtype
        for problem in ("missing_keys", "unexpected_keys", "mismatched_keys"):
            if info[problem]:
                sys.exit(f"run_in_transformers: {name}: {problem}: {info[problem]}")
        tokens = torch.tensor([list(window)])
        with torch.no_grad():
            logits = model(tokens[:, :-1]).logits[0]
        found = torch.nn.functional.cross_entropy(logits, tokens[0, 1:]).item()
        print(f"{name}: {stored}, loss after {STEPS} steps: {expected:.7f} in the run, {found:.7f} in transformers")
        if stored != (torch.bfloat16 if "bfloat16" in text else torch.float32):
            sys.exit(f"run_in_transformers: {name} is read as {stored}")
        if not abs(found - expected) < TOLERANCE[stored] * expected:
            sys.exit(f"run_in_transformers: {name} differs by more than {TOLERANCE[stored]} relative")


def main():
    for name, text in MODELS.items():
        compare(name, text)


if __name__ == "__main__":
    main()
