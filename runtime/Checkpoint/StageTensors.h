// StageTensors: the tensors that a checkpoint has of one stage: parameters under the model's own
// names, and the moments that AdamW keeps of each under PyTorch's: `layers.3.qkv`,
// `layers.3.qkv.exp_avg`, `layers.3.qkv.exp_avg_sq`.
//
// Of rounded weights the masters stand for the parameters: the weights follow from them.
//
// By name and not by rank, so that a run can go on with other stages on other ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

struct StageTensor {
  std::string name;
  std::string type; // as safetensors names it
  std::vector<std::uint64_t> shape;
  enum class Region : std::uint8_t { Weights, Moments } region = Region::Weights;
  std::uint64_t offset = 0, bytes = 0; // in its region
};

/// In the order in which a shard holds them: parameters first.
std::vector<StageTensor> tensorsOf(const ModelConfig &config, const StageSpec &spec);

/// A stage's state in memory. For reading or for writing.
template <typename Byte> struct StageMemory {
  Byte *weights = nullptr, *moments = nullptr;
  Byte *at(const StageTensor &tensor) const {
    return (tensor.region == StageTensor::Region::Weights ? weights : moments) + tensor.offset;
  }
};

} // namespace vime
