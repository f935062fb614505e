// RankModel: the stages of one rank, and what the update of the whole model needs to know of the
// others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/Kernels.h"
#include "kernels/Native.h"
#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/Checkpoint.h"
#include "runtime/Model/Stage.h"
#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/Plan/Plan.h"

namespace vime {

struct RankStage {
  const ModelConfig &config;
  std::uint32_t index = 0; // among the stages of the model
  StageSpec spec;
  std::unique_ptr<Stage> stage;
  std::uint32_t firstSquare = 0; // where this stage's tensors begin in the rank's `squares`
};

struct RankModel {
  const Kernels *kernels = nullptr;
  std::vector<RankStage> stages; // by entry of the stage table
  /// Places in `all_squares` in the model's tensor order: stages of one copy ascending, tensors as
  /// in StageSpec. The order in which the global norm is added, whatever the ranks are.
  std::vector<std::uint32_t> normOrder;
  std::string checkpoint;           // directory to start from; empty: initialise
  std::optional<Checkpoint> resume; // what the run goes on from instead
  std::string checkpointTo;         // directory in which it saves itself; empty: none
  std::string exportTo;             // directory to write at the end; empty: none
};

/// `base`: folder that the job's relative paths refer to. `Unacceptable` when this machine has not
/// the kernels that the plan is for, or none of `isa`, or another module than the plan was made
/// for.
StatusOr<RankModel> makeRankModel(const plan::Plan &plan, std::uint32_t rank,
                                  const std::string &base, std::optional<Isa> isa = {});

/// `path` as seen from `base`.
std::string pathFrom(const std::string &base, const std::string &path);

} // namespace vime
