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
#include "runtime/ModelSpec/StageShare.h"
#include "runtime/Plan/Plan.h"

namespace vime {

struct RankStage {
  const ModelConfig &config;
  std::uint32_t index = 0; // among the stages of the model
  StageSpec spec;
  std::unique_ptr<Stage> stage; // null on a rank that generates
  StageShare share;             // what this replica keeps of it
  ParameterRegions regions;     // bytes of its parameters here
  std::string checkpoint;       // directory to start from; empty: initialise
  bool isTrained = true;        // else of the model to compare with, which stays as it starts
  bool isShared() const { return regions.weightShareBytes != 0; }
};

struct RankModel {
  const Kernels *kernels = nullptr;
  std::vector<RankStage> stages; // by entry of the stage table
  /// Which of the sums in `all_squares` are of a stage of the first copy of the model: what the
  /// global norm adds up.
  std::vector<bool> counts;
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
