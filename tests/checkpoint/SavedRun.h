// SavedRun: checkpoints of a model of four layers with bytes that can be told apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Checkpoint/Checkpoint.h"
#include "runtime/Checkpoint/Commit.h"
#include "tests/model/TemporaryDirectory.h"

namespace vime {

/// The bytes of one stage.
struct StageBytes {
  explicit StageBytes(const StageSpec &spec)
      : weights(spec.weightBytes), moments(spec.momentBytes) {}
  std::vector<std::byte> weights, moments;
  StageMemory<std::byte> memory() { return {weights.data(), moments.data()}; }
  StageMemory<const std::byte> memory() const { return {weights.data(), moments.data()}; }
  bool operator==(const StageBytes &) const = default;
};

ModelConfig savedModel();
std::vector<StageSpec> savedStages(std::uint32_t stages);
/// Every tensor has bytes that follow from its name and the step; what lies between tensors is
/// zero.
StageBytes stateOf(const StageSpec &spec, std::uint64_t steps);

struct SavedRun {
  const TemporaryDirectory folder;
  const std::string directory = folder.path("run.ckpt");
  Identity identity{{"run.seed", "7"}, {"model.layers", "4"}};

  Status save(std::uint64_t steps, std::uint32_t stages = 2) const;
  std::string pathOf(std::uint64_t steps) const;
  /// Names in the directory, sorted.
  std::vector<std::string> names() const;
};

} // namespace vime
