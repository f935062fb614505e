"""Whether transformers reads an export of ours and computes the logits that we compute.

    python check_export.py EXPORT LOGITS        compares; exit code 1 when they differ
    python check_export.py EXPORT LOGITS --with PROGRAM
                                                first runs `PROGRAM EXPORT LOGITS`, which writes both;
                                                with --family FAMILY that is its third argument

EXPORT is a Hugging Face directory, LOGITS a safetensors file with `tokens` [rows, length] (int32) and `logits`
[rows, length, vocab] (float32). Needs torch, transformers, safetensors.
"""
import argparse
import subprocess
import sys

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

TOLERANCE = 1e-4


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export")
    parser.add_argument("logits")
    parser.add_argument("--with", dest="program")
    parser.add_argument("--family", default="llama")
    arguments = parser.parse_args()
    if arguments.program:
        subprocess.run([arguments.program, arguments.export, arguments.logits, arguments.family], check=True)

    expected = load_file(arguments.logits)
    model, info = AutoModelForCausalLM.from_pretrained(
        arguments.export, dtype=torch.float32, output_loading_info=True)
    for problem in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if info[problem]:
            sys.exit(f"check_export: {problem}: {info[problem]}")
    with torch.no_grad():
        logits = model(expected["tokens"].to(torch.int64)).logits
    worst = (logits - expected["logits"]).abs().max().item()
    largest = expected["logits"].abs().max().item()
    print(f"{arguments.export}: {logits.numel()} logits up to {largest:.3g}, largest difference {worst:.2g}")
    if not worst < TOLERANCE:
        sys.exit(f"check_export: differs by more than {TOLERANCE}")


main()
