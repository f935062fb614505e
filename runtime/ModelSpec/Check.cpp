// Whether a ModelConfig can be built: sizes in range, heads that divide.
#include "runtime/ModelSpec/ModelSpec.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "kernels/SumType.h"
#include "runtime/ModelSpec/StageRegions.h"

namespace vime {
namespace {

// Far beyond any model, and small enough that no product of two of them and an element's bytes
// overflows.
constexpr std::uint32_t kMostLayers = 1 << 16, kMostWidth = 1 << 20, kMostFfn = 1 << 22,
                        kMostVocab = 1 << 24;
constexpr std::uint64_t kMostOfModule = 1ull << 40; // parameters of a part, bytes of a task
constexpr double kMostSeconds = 3600;
constexpr std::uint64_t kMostTiedBytes = 0xFFFFFFFF; // it travels in one message

struct Field {
  const char *name;
  std::uint32_t value, most;
};

Status refuse(std::string text) { return Status(StatusCode::InvalidInput, std::move(text)); }

Status checkRange(const Field &field) {
  if (field.value >= 1 && field.value <= field.most)
    return Status();
  return refuse(
      fmt::format("`{}` is {}, must be from 1 to {}", field.name, field.value, field.most));
}

Status checkHeads(const ModelConfig &config) {
  if (config.heads % config.kvHeads != 0)
    return refuse(fmt::format("{} heads cannot share {} key-value heads evenly", config.heads,
                              config.kvHeads));
  if (config.headWidth % 2 != 0)
    return refuse(
        fmt::format("head width {} is odd; rotary positions turn pairs", config.headWidth));
  if (std::uint64_t(config.heads) * config.headWidth > kMostWidth)
    return refuse(fmt::format("{} heads of width {} are wider than {}", config.heads,
                              config.headWidth, kMostWidth));
  return Status();
}

Status checkDecoder(const ModelConfig &config) {
  const Field fields[] = {
      {"layers", config.layers, kMostLayers},       {"hidden", config.hidden, kMostWidth},
      {"heads", config.heads, kMostWidth},          {"kv_heads", config.kvHeads, kMostWidth},
      {"head_width", config.headWidth, kMostWidth}, {"ffn", config.ffn, kMostFfn},
      {"vocab", config.vocab, kMostVocab}};
  for (const Field &field : fields)
    if (Status status = checkRange(field); !status.ok())
      return status;
  if (!std::isfinite(config.ropeTheta) || config.ropeTheta <= 0)
    return refuse(fmt::format("rope theta is {}, must be positive", config.ropeTheta));
  if (!std::isfinite(config.normEpsilon) || config.normEpsilon <= 0)
    return refuse(fmt::format("norm epsilon is {}, must be positive", config.normEpsilon));
  // Its gradient is never smaller than the matrix.
  const std::uint64_t tied = tiedBytes(config, sumTypeOf(config.type));
  if (config.tiedHead && tied > kMostTiedBytes)
    return refuse(fmt::format("a tied head of {} bytes does not fit into a message of {} bytes",
                              tied, kMostTiedBytes));
  return checkHeads(config);
}

Status checkSleep(const ModelConfig &config) {
  for (double seconds :
       {config.forwardSeconds, config.backwardInputSeconds, config.backwardWeightSeconds})
    if (!(seconds >= 0 && seconds <= kMostSeconds))
      return refuse(fmt::format("a task of {} s: must last from 0 to {} s", seconds, kMostSeconds));
  return checkRange({"layers", config.layers, kMostLayers});
}

Status checkTorchScript(const ModelConfig &config) {
  if (config.type == DataType::BFloat16)
    return refuse("a module of type bfloat16: must be float32 or float64");
  const Field fields[] = {{"layers", config.layers, kMostLayers},
                          {"hidden", config.hidden, kMostWidth},
                          {"vocab", config.vocab, kMostVocab}};
  for (const Field &field : fields)
    if (Status status = checkRange(field); !status.ok())
      return status;
  const std::pair<const char *, std::uint64_t> sizes[] = {
      {"embedding_parameters", config.embeddingElements},
      {"layer_parameters", config.layerElements},
      {"head_parameters", config.headElements},
      {"task_memory", config.taskBytes}};
  for (const auto &[name, value] : sizes)
    if (value < 1 || value > kMostOfModule)
      return refuse(fmt::format("`{}` is {}, must be from 1 to {}", name, value, kMostOfModule));
  return Status();
}

} // namespace

Status check(const ModelConfig &config) {
  if (config.type != DataType::Float32 && config.type != DataType::Float64 &&
      config.type != DataType::BFloat16)
    return refuse(fmt::format("a model of type {}: must be float32, float64 or bfloat16",
                              nameOf(config.type)));
  if (config.type == DataType::BFloat16 && config.kernels == KernelLibrary::LibTorch)
    return refuse("the kernels of libtorch compute in float32 and float64, those of native in "
                  "bfloat16 too");
  switch (config.family) {
  case ModelFamily::Llama:
  case ModelFamily::Qwen2:
  case ModelFamily::Qwen3:
    return checkDecoder(config);
  case ModelFamily::Null:
    return checkRange({"layers", config.layers, kMostLayers});
  case ModelFamily::Sleep:
    return checkSleep(config);
  case ModelFamily::TorchScript:
    return checkTorchScript(config);
  }
  return refuse(fmt::format("unknown model family {}", static_cast<int>(config.family)));
}

} // namespace vime
