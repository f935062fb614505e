#include "runtime/Engine/EngineWeights.h"

#include <algorithm>

#include <fmt/format.h>

namespace vime {

Status checkStages(const ModelConfig &config, std::span<const StageRange> stages) {
  std::uint32_t end = 0;
  for (const StageRange &stage : stages) {
    const bool follows = stage.first == end && stage.end > stage.first;
    if (!follows || stage.embedding != (stage.first == 0) ||
        stage.head != (stage.end == config.layers))
      return Status(StatusCode::InvalidInput,
                    fmt::format("a stage has layers {} to {}, the one before it ends at {} of {}",
                                stage.first, stage.end, end, config.layers));
    end = stage.end;
  }
  if (end == config.layers)
    return Status();
  return Status(StatusCode::InvalidInput,
                fmt::format("stages have {} layers of a model with {}", end, config.layers));
}

EngineWeights::EngineWeights(const ModelConfig &config, std::span<const StageRange> ranges)
    : tiedHead(config.tiedHead) {
  for (const StageRange &range : ranges) {
    stageOf.resize(range.end, std::uint32_t(stages.size()));
    // Caps of microbatches do not matter to where weights lie.
    stages.push_back(
        {range.first, LlamaTensors(stageSpec(config, range, {1, 1, 1}), sizeOf(config.type))});
  }
}

void EngineWeights::install(std::uint32_t stage, const void *memory) {
  stages[stage].memory = memory;
  stages[stage].isNew = true;
}

void EngineWeights::publish() {
  for (OfStage &stage : stages)
    stage.isNew = false;
}

std::optional<std::uint32_t> EngineWeights::missing() const {
  const auto found =
      std::find_if(stages.begin(), stages.end(), [](const OfStage &stage) { return !stage.isNew; });
  if (found == stages.end())
    return std::nullopt;
  return std::uint32_t(found - stages.begin());
}

const void *EngineWeights::embedding() const {
  return bytesFrom(stages.front().memory, stages.front().tensors.embedding);
}

const void *EngineWeights::norm() const {
  return bytesFrom(stages.back().memory, stages.back().tensors.norm);
}

const void *EngineWeights::head() const {
  return tiedHead ? embedding() : bytesFrom(stages.back().memory, stages.back().tensors.head);
}

LayerTensors<const void *> EngineWeights::layer(std::uint32_t index) const {
  const OfStage &stage = stages[stageOf[index]];
  return stage.tensors.layerAt(stage.memory, index - stage.first);
}

} // namespace vime
