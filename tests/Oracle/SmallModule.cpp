#include "tests/Oracle/SmallModule.h"

#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
#include <torch/script.h>

namespace vime::small_module {

using torch::jit::Module;

namespace {

Module member(const std::string &name, std::vector<std::pair<std::string, at::Tensor>> parameters,
              const std::string &source) {
  Module module(name);
  for (const auto &[parameter, values] : parameters)
    module.register_parameter(parameter, values, /*is_buffer=*/false);
  module.define(source);
  return module;
}

} // namespace

Module make(bool keeps) {
  torch::manual_seed(3);
  const auto random = [](at::IntArrayRef shape) { return at::randn(shape, at::kDouble) * 0.1; };
  Module layers("Layers");
  for (int layer = 0; layer < kLayers; ++layer) {
    Module made("Layer" + std::to_string(layer));
    made.register_parameter("inner", random({kInner, kHidden}), /*is_buffer=*/false);
    made.register_parameter("outer", random({kHidden, kInner}), /*is_buffer=*/false);
    made.register_buffer("kept", at::zeros({1}, at::kDouble));
    made.define(std::string("def forward(self, x: Tensor) -> Tensor:\n"
                            "  places = torch.arange(1, x.size(1) + 1, dtype=x.dtype)\n"
                            "  mean = torch.cumsum(x, 1) / places.unsqueeze(1)\n") +
                (keeps ? "  self.kept = mean\n" : "") +
                "  return x + torch.matmul(torch.tanh(torch.matmul(mean, self.inner.t())), "
                "self.outer.t())\n");
    layers.register_module(std::to_string(layer), made);
  }
  Module root("Model");
  root.register_module("embedding", member("Embedding", {{"table", random({kVocab, kHidden})}},
                                           "def forward(self, ids: Tensor) -> Tensor:\n"
                                           "  return torch.embedding(self.table, ids)\n"));
  root.register_module("layers", layers);
  root.register_module("head", member("Head", {{"matrix", random({kVocab, kHidden})}},
                                      "def forward(self, x: Tensor) -> Tensor:\n"
                                      "  return torch.matmul(x, self.matrix.t())\n"));
  return root;
}

} // namespace vime::small_module
