// EngineWeights: the tensors of a model whose stages each lie in memory of their own.
//
//   EngineWeights weights(config, splitLayers(config, 4));
//   weights.install(0, memory);   // ... and 1, 2, 3
//   weights.layer(5)              // wherever it is
//
// The memory of a stage is laid out as stageSpec has that stage, on the trainer's rank as here. A
// tied head reads the first stage's embedding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Model/LlamaTensors.h"

namespace vime {

/// Whether the stages are the model's, one behind the other (InvalidInput).
Status checkStages(const ModelConfig &config, std::span<const StageRange> stages);

class EngineWeights {
public:
  /// Of stages that `checkStages` accepts.
  EngineWeights(const ModelConfig &config, std::span<const StageRange> stages);

  std::uint32_t count() const { return std::uint32_t(stages.size()); }
  void install(std::uint32_t stage, const void *memory);
  void publish();
  /// The first stage without new weights since the last publication.
  std::optional<std::uint32_t> missing() const;
  bool isEmpty() const { return stages.front().memory == nullptr; }

  const void *embedding() const;
  const void *norm() const;
  const void *head() const;
  LayerTensors<const void *> layer(std::uint32_t index) const;

private:
  struct OfStage {
    std::uint32_t first; // layer
    LlamaTensors tensors;
    const void *memory = nullptr;
    bool isNew = false;
  };
  bool tiedHead;
  std::vector<OfStage> stages;
  std::vector<std::uint32_t> stageOf; // of each layer
};

} // namespace vime
