#include "runtime/Checkpoint/StageTensors.h"
#include "runtime/ModelSpec/Masters.h"

namespace vime {
namespace {

const char *safeTensorType(DataType type) {
  switch (type) {
  case DataType::Float32:
    return "F32";
  case DataType::Float64:
    return "F64";
  default:
    return "U8";
  }
}

} // namespace

std::vector<StageTensor> tensorsOf(const ModelConfig &config, const StageSpec &spec) {
  using enum StageTensor::Region;
  std::vector<StageTensor> tensors;
  const DataType type = sumTypeOf(config.type);
  const auto addAll = [&](const char *suffix, StageTensor::Region region, std::uint64_t base) {
    for (const TensorSpec &tensor : spec.tensors)
      tensors.push_back({.name = tensor.name + suffix,
                         .type = safeTensorType(type),
                         .shape = tensor.shape,
                         .region = region,
                         .offset = base + tensor.offset * sizeOf(type),
                         .bytes = tensor.elements() * sizeOf(type)});
  };
  if (hasMasters(spec))
    addAll("", Moments, mastersOffset(spec));
  else
    addAll("", Weights, 0);
  addAll(".exp_avg", Moments, 0);
  addAll(".exp_avg_sq", Moments, spec.gradientBytes);
  return tensors;
}

} // namespace vime
