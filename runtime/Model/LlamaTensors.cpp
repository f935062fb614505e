#include "runtime/Model/LlamaTensors.h"

#include <algorithm>
#include <string>

namespace vime {
namespace {

template <typename Pointer>
LayerTensors<Pointer> tensorsAt(Pointer start, const LayerTensors<std::uint64_t> &in) {
  return {
      bytesFrom(start, in.norm1),   bytesFrom(start, in.qkv),       bytesFrom(start, in.o),
      bytesFrom(start, in.norm2),   bytesFrom(start, in.gateUp),    bytesFrom(start, in.down),
      bytesFrom(start, in.qkvBias), bytesFrom(start, in.queryNorm), bytesFrom(start, in.keyNorm)};
}

} // namespace

LlamaTensors::LlamaTensors(const StageSpec &spec, std::uint64_t elementBytes) {
  const auto offset = [&](const std::string &name) {
    const auto found = std::find_if(spec.tensors.begin(), spec.tensors.end(),
                                    [&](const TensorSpec &tensor) { return tensor.name == name; });
    return found == spec.tensors.end() ? 0 : found->offset * elementBytes;
  };
  const auto nameOf = [](std::uint32_t index) { return "layers." + std::to_string(index) + "."; };
  const std::string first = nameOf(spec.range.first);
  embedding = offset("embedding");
  firstLayer = offset(first + "norm1");
  norm = offset("norm");
  head = offset("head");
  if (spec.range.end - spec.range.first > 1)
    layerStride = offset(nameOf(spec.range.first + 1) + "norm1") - firstLayer;
  const auto inLayer = [&](const char *name) {
    const std::uint64_t found = offset(first + name);
    return found < firstLayer ? 0 : found - firstLayer;
  };
  layer = {inLayer("norm1"),    inLayer("qkv"),     inLayer("o"),
           inLayer("norm2"),    inLayer("gate_up"), inLayer("down"),
           inLayer("qkv_bias"), inLayer("q_norm"),  inLayer("k_norm")};
}

LayerTensors<const void *> LlamaTensors::layerAt(const void *weights, std::uint32_t index) const {
  return tensorsAt(bytesFrom(weights, firstLayer + index * layerStride), layer);
}
LayerTensors<void *> LlamaTensors::layerAt(void *gradients, std::uint32_t index) const {
  return tensorsAt(bytesFrom(gradients, firstLayer + index * layerStride), layer);
}

} // namespace vime
