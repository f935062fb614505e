"""Our decoder as a PyTorch module, a stage of it: parameters are called and shaped as in a checkpoint of ours."""

import json
import pathlib

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import nn

LAYERS = {"norm1": "input_layernorm", "o": "self_attn.o_proj", "norm2": "post_attention_layernorm", "down": "mlp.down_proj"}
FUSED = {"qkv": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "gate_up": ["mlp.gate_proj", "mlp.up_proj"]}


class Model:
    """A Hugging Face directory: its sizes, and its weights under our names."""

    def __init__(self, directory):
        self.config = json.loads((pathlib.Path(directory) / "config.json").read_text())
        stored = {}
        for path in pathlib.Path(directory).glob("*.safetensors"):
            with safe_open(path, "pt") as file:
                stored.update({name: file.get_tensor(name) for name in file.keys()})
        self.weights = {"embedding": stored["model.embed_tokens.weight"], "norm": stored["model.norm.weight"],
                        "head": stored["lm_head.weight"]}
        for layer in range(self.config["num_hidden_layers"]):
            def of(name):
                return stored[f"model.layers.{layer}.{name}.weight"]  # noqa: B023
            self.weights.update({f"layers.{layer}.{ours}": of(theirs) for ours, theirs in LAYERS.items()})
            self.weights.update({f"layers.{layer}.{ours}": torch.cat([of(name) for name in theirs])
                                 for ours, theirs in FUSED.items()})

    def stage(self, index, count):
        layers = self.config["num_hidden_layers"]
        return Stage(self, index * layers // count, (index + 1) * layers // count)


class Stage(nn.Module):
    """Layers `first` to `last` - 1; with the embedding before the first layer of the model, with the head behind the last."""

    def __init__(self, model, first, last):
        super().__init__()
        self.config, self.layers = model.config, range(first, last)
        self.begins, self.ends = first == 0, last == model.config["num_hidden_layers"]
        names = [name for name in model.weights if name.startswith(tuple(f"layers.{layer}." for layer in self.layers))]
        names += ["embedding"] * self.begins + ["norm", "head"] * self.ends
        self.named = {name: nn.Parameter(model.weights[name].clone()) for name in names}
        for name, parameter in self.named.items():
            self.register_parameter("weight_" + name.replace(".", "_"), parameter)

    def norm(self, x, name):
        return F.rms_norm(x, (x.shape[-1],), self.named[name], self.config["rms_norm_eps"])

    def heads(self, x, heads):
        return x.view(*x.shape[:2], heads, self.config["head_dim"]).transpose(1, 2)

    def rotated(self, x):
        width, length = x.shape[-1], x.shape[-2]
        exponent = torch.arange(0, width, 2).float() / width  # rounded where Hugging Face's Llama rounds
        frequency = 1 / (self.config["rope_theta"] ** exponent.double()).float()
        angle = (torch.arange(length).float()[:, None] * frequency).repeat(1, 2).to(x.dtype)
        low, high = x.chunk(2, -1)
        return x * angle.cos() + torch.cat([-high, low], -1) * angle.sin()

    def layer(self, x, prefix):
        heads, pairs = self.config["num_attention_heads"], self.config["num_key_value_heads"]
        width = self.config["head_dim"]
        q, k, v = F.linear(self.norm(x, prefix + "norm1"), self.named[prefix + "qkv"]).split(
            [heads * width, pairs * width, pairs * width], -1)
        q, k, v = self.rotated(self.heads(q, heads)), self.rotated(self.heads(k, pairs)), self.heads(v, pairs)
        k, v = (t.repeat_interleave(heads // pairs, 1) for t in (k, v))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + F.linear(attended, self.named[prefix + "o"])
        gate, up = F.linear(self.norm(x, prefix + "norm2"), self.named[prefix + "gate_up"]).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, self.named[prefix + "down"])

    def forward(self, x):
        if self.begins:
            x = F.embedding(x, self.named["embedding"])
        for layer in self.layers:
            x = self.layer(x, f"layers.{layer}.")
        return F.linear(self.norm(x, "norm"), self.named["head"]) if self.ends else x

    def gradients(self):
        return {name: parameter.grad for name, parameter in self.named.items()}
