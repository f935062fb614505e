"""Makes module.pt, a decoder of one's own as TorchScript, and shows the lines of the job that describe it.

    python make_module.py [--from EXPORT]      with --from: the parameters that a run has exported

Needs PyTorch; vime does not need it afterwards.
"""

import argparse
import glob
import math

import torch

LAYERS, HIDDEN, HEADS, VOCAB = 4, 64, 4, 256


class Layer(torch.nn.Module):
    """Causal attention without positions, and a feed-forward part."""

    def __init__(self):
        super().__init__()
        self.heads = HEADS
        self.norm1 = torch.nn.LayerNorm(HIDDEN)
        self.qkv = torch.nn.Linear(HIDDEN, 3 * HIDDEN, bias=False)
        self.out = torch.nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.norm2 = torch.nn.LayerNorm(HIDDEN)
        self.up = torch.nn.Linear(HIDDEN, 4 * HIDDEN, bias=False)
        self.down = torch.nn.Linear(4 * HIDDEN, HIDDEN, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        samples, tokens, hidden = x.shape
        qkv = self.qkv(self.norm1(x)).view(samples, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = torch.nn.functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(samples, tokens, hidden))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


class Model(torch.nn.Module):
    """The three members that vime asks for."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCAB, HIDDEN)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = torch.nn.Linear(HIDDEN, VOCAB, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def members(model):
    yield "embedding", model.embedding
    for index, layer in enumerate(model.layers):
        yield f"layers.{index}", layer
    yield "head", model.head


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="export", help="directory that a run has exported")
    options = parser.parse_args()
    torch.manual_seed(0)
    model = Model()
    for linear in model.modules():
        if isinstance(linear, torch.nn.Linear):
            torch.nn.init.normal_(linear.weight, std=1 / math.sqrt(HIDDEN) / 2)
    if options.export:
        from safetensors.torch import load_file
        trained = {name: flat for file in glob.glob(f"{options.export}/*.safetensors")
                   for name, flat in load_file(file).items()}
        for name, member in members(model):
            torch.nn.utils.vector_to_parameters(trained[name], member.parameters())
    torch.jit.script(model).save("module.pt")
    count = {name: sum(parameter.numel() for parameter in member.parameters()) for name, member in members(model)}
    print(f"module: module.pt, layers: {LAYERS}, hidden: {HIDDEN}, vocab: {VOCAB}, "
          f"embedding_parameters: {count['embedding']}, layer_parameters: {count['layers.0']}, "
          f"head_parameters: {count['head']}")


if __name__ == "__main__":
    main()
