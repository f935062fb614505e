"""Tokens per second of Hugging Face `generate`: the peer of engine_bench.

    python generate.py LAYERS HIDDEN FFN SEQUENCES NEW ROUNDS
A Llama of 8 heads and 256 words in float32, prompts of 16 tokens, NEW tokens for each of SEQUENCES, drawn at temperature 1, one
thread. Prints one JSON line: of each round the seconds, behind one that warms up.
"""
import json
import sys
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM

layers, hidden, ffn, sequences, new, rounds = map(int, sys.argv[1:])
torch.set_num_threads(1)
torch.manual_seed(7)
config = LlamaConfig(hidden_size=hidden, intermediate_size=ffn, num_hidden_layers=layers, num_attention_heads=8,
                     vocab_size=256, max_position_embeddings=512, bos_token_id=None, eos_token_id=None, pad_token_id=0)
model = LlamaForCausalLM(config).eval()
prompts = torch.tensor([[(sequence * 31 + at * 7) % 256 for at in range(16)] for sequence in range(sequences)])
mask = torch.ones_like(prompts)


def generate():
    start = time.perf_counter()
    with torch.inference_mode():
        found = model.generate(prompts, attention_mask=mask, do_sample=True, top_k=0, max_new_tokens=new, min_new_tokens=new)
    assert found.shape == (sequences, 16 + new), found.shape
    return time.perf_counter() - start


generate()
print(json.dumps({"tokens": sequences * new, "rounds": [{"all_s": generate()} for _ in range(rounds)]}))
