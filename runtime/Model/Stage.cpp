// The table of families, and the check of segments that came from another process.
#include "runtime/Model/Stage.h"

#include <fmt/format.h>

#include "runtime/Model/EmptyStages.h"
#include "runtime/Model/LlamaStage.h"

namespace vime {
namespace {

Status refuse(std::string text) { return Status(StatusCode::InvalidInput, std::move(text)); }

Status checkCaps(MicrobatchCaps caps) {
  constexpr std::uint32_t kMost = 1u << 30; // token offsets are int32
  if (caps.tokens >= 1 && caps.tokens <= kMost && caps.segments >= 1 && caps.segmentTokens >= 1 &&
      caps.slices >= 1 && caps.segmentTokens % caps.slices == 0 &&
      caps.segmentTokens / caps.slices <= caps.tokens)
    return Status();
  return refuse(fmt::format("a microbatch of {} tokens in {} segments of up to {} tokens",
                            caps.tokens, caps.segments, caps.segmentTokens));
}

Status checkRange(const ModelConfig &config, StageRange range) {
  if (range.first < range.end && range.end <= config.layers &&
      range.embedding == (range.first == 0) && range.head == (range.end == config.layers))
    return Status();
  return refuse(fmt::format("layers {} to {} are no stage of a model with {} layers", range.first,
                            range.end, config.layers));
}

} // namespace

StatusOr<std::unique_ptr<Stage>> makeStage(const ModelConfig &config, StageRange range,
                                           MicrobatchCaps caps, const Kernels &kernels) {
  for (Status status : {check(config), checkRange(config, range), checkCaps(caps)})
    if (!status.ok())
      return status;
  if (kernels.type() != config.type)
    return refuse(
        fmt::format("a {} model on {} kernels", nameOf(config.type), nameOf(kernels.type())));
  const std::uint64_t gradientBytes = stageSpec(config, range, caps).gradientBytes;
  switch (config.family) {
  case ModelFamily::Llama:
  case ModelFamily::Qwen2:
  case ModelFamily::Qwen3:
    return std::unique_ptr<Stage>(std::make_unique<LlamaStage>(config, range, caps, kernels));
  case ModelFamily::Null:
    return std::unique_ptr<Stage>(std::make_unique<NullStage>(gradientBytes));
  case ModelFamily::Sleep:
    return std::unique_ptr<Stage>(std::make_unique<SleepStage>(config, gradientBytes));
  case ModelFamily::TorchScript:
    return refuse("a user's module is a stage of the LibTorch plug-in");
  }
  return Status(StatusCode::Internal, "unknown model family");
}

Status checkSegments(const Segments &segments, std::int64_t tokens, MicrobatchCaps caps) {
  const std::int32_t *offsets = segments.offsets;
  if (segments.count < 1 || std::uint32_t(segments.count) > caps.segments ||
      tokens > std::int64_t(caps.tokens) || offsets[0] != 0 || offsets[segments.count] != tokens)
    return refuse(fmt::format("{} segments for {} tokens, room for {} of {}", segments.count,
                              tokens, caps.segments, caps.tokens));
  for (std::int32_t segment = 0; segment < segments.count; ++segment) {
    const std::int64_t length = std::int64_t(offsets[segment + 1]) - offsets[segment];
    const std::uint32_t room = caps.segmentTokens / caps.slices;
    if (length < 0 || length > std::int64_t(room))
      return refuse(fmt::format("segment {} has {} tokens, room for {}", segment, length, room));
  }
  return Status();
}

} // namespace vime
