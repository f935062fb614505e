// LlamaTensors: where the tensors of a stage lie in its weights, or in its gradients.
//
//   const LlamaTensors tensors(stageSpec(config, range, caps), sizeOf(config.type));
//   LayerTensors<const void *> layer = tensors.layerAt(weights, 3);
//
// Offsets are bytes; 0 of a tensor that the stage does not have.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/Model/LlamaLayer.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

struct LlamaTensors {
  std::uint64_t embedding = 0, firstLayer = 0, layerStride = 0, norm = 0;
  std::uint64_t head = 0;              // of a head that is not tied
  LayerTensors<std::uint64_t> layer{}; // from the start of a layer

  LlamaTensors(const StageSpec &spec, std::uint64_t elementBytes);

  /// The tensors of layer `index` of the stage.
  LayerTensors<const void *> layerAt(const void *weights, std::uint32_t index) const;
  LayerTensors<void *> layerAt(void *gradients, std::uint32_t index) const;
};

inline void *bytesFrom(void *base, std::uint64_t bytes) {
  return static_cast<std::byte *>(base) + bytes;
}
inline const void *bytesFrom(const void *base, std::uint64_t bytes) {
  return static_cast<const std::byte *>(base) + bytes;
}

} // namespace vime
