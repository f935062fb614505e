"""Makes the tiny random checkpoints beside this file and the logits that Hugging Face's Llama gives for them.

    python make_golden.py        needs torch, transformers, safetensors

Each folder holds config.json, the weights, and expected.safetensors: tokens [rows, length] (int32) and logits
[rows, length, vocab] (float32), computed in float32.

    plain    one float32 file; every size a multiple of 8
    grouped  bfloat16 in two shards with an index; grouped queries, heads wider than hidden / heads, odd sizes
"""
import json
import pathlib
import shutil

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

HERE = pathlib.Path(__file__).parent
COMMON = dict(tie_word_embeddings=False, attention_bias=False, mlp_bias=False, hidden_act="silu",
              bos_token_id=None, eos_token_id=None, max_position_embeddings=64)


def make(name, seed, stored, shard_size, length, **sizes):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(seed)
    # A wide initializer: with the usual 0.02 all logits are nearly alike and hide mistakes.
    model = LlamaForCausalLM(LlamaConfig(**COMMON, **sizes, initializer_range=0.2)).to(stored)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.data += 0.3 * torch.randn_like(parameter)
    model.save_pretrained(folder, max_shard_size=shard_size)
    (folder / "generation_config.json").unlink(missing_ok=True)
    config = json.loads((folder / "config.json").read_text())
    config.pop("transformers_version", None)
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")

    tokens = torch.randint(0, sizes["vocab_size"], (2, length))
    with torch.no_grad():
        logits = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)(tokens).logits
    save_file({"tokens": tokens.to(torch.int32), "logits": logits.contiguous()},
              folder / "expected.safetensors")


make("plain", 1, torch.float32, "5GB", length=24,
     num_hidden_layers=2, hidden_size=32, num_attention_heads=4, num_key_value_heads=4,
     intermediate_size=64, vocab_size=96, rms_norm_eps=1e-5)
make("grouped", 2, torch.bfloat16, "40KB", length=31,
     num_hidden_layers=3, hidden_size=36, num_attention_heads=6, num_key_value_heads=2, head_dim=10,
     intermediate_size=50, vocab_size=67, rms_norm_eps=1e-6, rope_theta=500000.0)
