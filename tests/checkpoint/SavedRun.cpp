#include "tests/checkpoint/SavedRun.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "runtime/Checkpoint/CheckpointDirectory.h"
#include "runtime/Checkpoint/CheckpointShard.h"

namespace vime {

ModelConfig savedModel() {
  return {
      .layers = 4, .hidden = 8, .heads = 2, .kvHeads = 1, .headWidth = 4, .ffn = 12, .vocab = 256};
}

std::vector<StageSpec> savedStages(std::uint32_t stages) {
  std::vector<StageSpec> specs;
  for (const StageRange &range : splitLayers(savedModel(), stages))
    specs.push_back(stageSpec(savedModel(), range, {8, 1, 8}));
  return specs;
}

StageBytes stateOf(const StageSpec &spec, std::uint64_t steps) {
  StageBytes state(spec);
  for (const StageTensor &tensor : tensorsOf(savedModel(), spec))
    for (std::uint64_t at = 0; at < tensor.bytes; ++at)
      state.memory().at(tensor)[at] =
          std::byte(std::hash<std::string>()(tensor.name) + at * 7 + steps);
  return state;
}

Status SavedRun::save(std::uint64_t steps, std::uint32_t stages) const {
  std::filesystem::create_directories(directory);
  const std::vector<StageSpec> specs = savedStages(stages);
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const StageBytes state = stateOf(specs[stage], steps);
    if (Status status = writeShard({directory, steps, stage, stages}, savedModel(), specs[stage],
                                   state.memory());
        !status.ok())
      return status;
  }
  return commitCheckpoint({directory, {steps, steps, steps * 16}, "id", identity}, savedModel(),
                          specs);
}

std::string SavedRun::pathOf(std::uint64_t steps) const {
  return checkpointPath(directory, steps).string();
}

std::vector<std::string> SavedRun::names() const {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace vime
