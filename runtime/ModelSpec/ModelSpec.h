// ModelSpec: every tensor of a model, and the bytes that each task of a stage needs. Plain C++, no
// weights, no kernels.
//
//   std::vector<StageRange> stages = splitLayers(config, 4);
//   StageSpec stage = stageSpec(config, stages[1], {512, /*segments=*/4, /*segmentTokens=*/128});
//   stage.stashBytes  // what a microbatch keeps from forward to backward
//
// The compiler lays out memory by it; the runtime's stages lay out the same regions by it. Sources
// of the formulas: the table of what lives from which task to which in runtime/Model/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/DataType.h"
#include "kernels/KernelLibrary.h"
#include "runtime/Base/Status.h"

namespace vime {

enum class ModelFamily : std::uint8_t {
  Llama,      // RMSNorm, RoPE, grouped-query attention, SwiGLU
  Null,       // computes nothing: measures the executor and the transports
  Sleep,      // tasks last as long as declared
  Qwen2,      // Llama with a bias in the q, k and v products
  Qwen3,      // Llama with an RMSNorm of each head's q and k before RoPE
  TorchScript // a module that the user brings, differentiated by LibTorch
};

constexpr bool isDecoder(ModelFamily family) {
  return family == ModelFamily::Llama || family == ModelFamily::Qwen2 ||
         family == ModelFamily::Qwen3;
}

struct ModelConfig {
  ModelFamily family = ModelFamily::Llama;
  DataType type = DataType::Float32;
  std::uint32_t layers = 0, hidden = 0, heads = 0, kvHeads = 0, headWidth = 0, ffn = 0, vocab = 0;
  double ropeTheta = 10000, normEpsilon = 1e-5;
  bool tiedHead = false;         // the head's matrix is the embedding's
  bool recomputesLayers = false; // keep each layer's input alone; its forward runs again
  KernelLibrary kernels = KernelLibrary::Native; // which ask for different workspaces
  // Sleep: per stage and microbatch.
  double forwardSeconds = 0, backwardInputSeconds = 0, backwardWeightSeconds = 0;
  // TorchScript: parameters of the module's parts (all layers have as many), and what one task may
  // allocate at most.
  std::uint64_t embeddingElements = 0, layerElements = 0, headElements = 0;
  std::uint64_t taskBytes = 0;
  bool operator==(const ModelConfig &) const = default;
};

/// Layers [first, end) of a model; the first stage embeds, the last one has the final norm and the
/// head.
struct StageRange {
  std::uint32_t first = 0, end = 0;
  bool embedding = false, head = false;
  bool operator==(const StageRange &) const = default;
};

/// Caps that buffers of one microbatch are made for.
struct MicrobatchCaps {
  std::uint32_t tokens = 0;        // of the microbatch
  std::uint32_t segments = 0;      // packed samples
  std::uint32_t segmentTokens = 0; // of the longest sample
  /// A sample passes in so many slices of equal length, each in a microbatch of its own: `tokens`
  /// are those of one slice of each sample, `segmentTokens` those of whole ones.
  std::uint32_t slices = 1;
};

/// Rows [row, row + rows) of a tensor are the Hugging Face tensor `name`.
struct SourceTensor {
  std::string name;
  std::uint64_t row, rows;
};

/// What a parameter is before anything is trained.
enum class Start : std::uint8_t { Normal, Ones, Zeros };

/// A parameter as it lies in a stage's weights (fused where the products are: q,k,v and gate,up).
struct TensorSpec {
  std::string name;                 // unique in the model, e.g. `layers.3.qkv`
  std::vector<std::uint64_t> shape; // row-major
  /// Elements from the start of the stage's weights; gradients, moments and masters alike.
  std::uint64_t offset;
  std::vector<SourceTensor> sources; // Hugging Face names
  Start start = Start::Normal;
  std::uint64_t elements() const;
};

/// Bytes and tensors of one stage. Regions start at multiples of 64 bytes.
struct StageSpec {
  StageRange range;
  /// In the model's tensor order: embedding, layers ascending, final norm, head.
  std::vector<TensorSpec> tensors;
  std::uint64_t weightBytes = 0;
  std::uint64_t gradientBytes = 0;
  std::uint64_t momentBytes = 0; // both moments and masters (Masters.h), one behind the other
  /// Of a tied matrix and of its gradient, on the stages of the embedding and of the head; else 0.
  /// The head's stage does not count it among its tensors: it reads the embedding's, or a copy.
  std::uint64_t tiedWeightBytes = 0, tiedGradientBytes = 0;
  /// Of the activation between two stages, and of its gradient.
  std::uint32_t boundaryBytesPerToken = 0;
  /// Of one microbatch: forward → input and weight gradient.
  std::uint64_t stashBytes = 0;
  /// Of one microbatch: new at backward_input, kept until backward_weight.
  std::uint64_t weightStashBytes = 0;
  /// Of all slices of a microbatch: keys and values, and their gradients; 0 where there is one.
  std::uint64_t contextBytes = 0, contextGradientBytes = 0;
  std::uint64_t forwardWorkspace = 0;
  std::uint64_t backwardWorkspace = 0; // input and weight gradient in one
  std::uint64_t backwardInputWorkspace = 0;
  std::uint64_t backwardWeightWorkspace = 0;
};

/// Legal sizes, heads that divide, an even head width … or why not (InvalidInput).
Status check(const ModelConfig &config);

/// Consecutive layers as even as possible, earlier stages first to get one more; needs
/// 1 ≤ stages ≤ layers.
std::vector<StageRange> splitLayers(const ModelConfig &config, std::uint32_t stages);

StageSpec stageSpec(const ModelConfig &config, StageRange range, MicrobatchCaps caps);

/// `llama`, `null`, `sleep`, `qwen2`, `qwen3`, `torchscript`.
const char *nameOf(ModelFamily family);

} // namespace vime
