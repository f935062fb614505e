// RolloutWriter: what engines and coordinator do in a round, as actions.
//
//   RolloutWriter rollout(plan, groups, localStages, programs);
//   rollout.wake();                       // before the first round
//   rollout.sync(); rollout.generate();   // at the beginning of each
//
// Weights go from the rank that trains a stage, of the leading replica, to all engines at once, in
// parts of a bucket, and are written where they stay: an engine has a buffer for each stage, laid
// out as the trainer has it. So each byte is written once, and none is copied.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/Lowering/ProgramWriter.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Places in Plan::groups of what only plans with rounds have, from the end of all others on.
struct RolloutGroups {
  std::uint32_t header, prompts, samples; // of coordinator and engines
  std::uint32_t round = 0;                // of the first ranks of the replicas, if several
  std::uint32_t sync = 0;                 // of the first rank that trains; the next ones follow
};

/// Appends the groups to the plan, whose mesh, models and settings of rounds are known.
/// `header`: the message that the step header is.
RolloutGroups addRolloutGroups(plan::Plan &plan, const plan::Message &header);

class RolloutWriter {
public:
  /// `localStages`: of each rank of a replica, those of the trained model first.
  RolloutWriter(const plan::Plan &plan, const RolloutGroups &groups,
                const std::vector<std::vector<plan::LocalStage>> &localStages,
                ProgramWriter &programs)
      : plan(plan), groups(groups), localStages(localStages), programs(programs) {}

  /// Stages, cache and all: what an engine has.
  void placeStages(plan::Plan &to) const;
  void wake();
  /// The step header to all engines.
  void shareHeader();
  /// The weights of the moment, under the next version. `behindLastRound`: no round follows.
  void sync(bool behindLastRound = false);
  /// Prompts out, samples back, rewards.
  void generate();
  /// The same with held-out prompts, whose samples are only judged.
  void evaluate();

private:
  void exchange(plan::Opcode draw, plan::Opcode score);
  void sendStage(std::uint32_t rank, std::uint32_t chunk);
  template <typename Visit> void forEachEngine(Visit visit) const {
    for (std::uint32_t rank = plan.mesh.trainers(); rank < plan.mesh.ranks(); ++rank)
      visit(rank);
  }

  const plan::Plan &plan;
  const RolloutGroups groups;
  const std::vector<std::vector<plan::LocalStage>> &localStages;
  ProgramWriter &programs;
};

} // namespace vime
