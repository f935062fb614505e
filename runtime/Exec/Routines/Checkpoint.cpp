// A run saves itself: a copy between two steps, files while the next step runs, a name when all of
// them are there.
#include <cstring>

#include <fmt/format.h>

#include "runtime/Checkpoint/CheckpointShard.h"
#include "runtime/Checkpoint/Commit.h"
#include "runtime/Exec/Coordinator.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/Exec/StatsView.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Snapshot.h"

namespace vime::routines {
namespace {

const plan::Model &modelOf(const RankState &state) { return state.plan.models.front(); }

/// Stages that are saved: those of one copy of the model.
std::uint32_t depthOf(const RankState &state) { return vime::depthOf(modelOf(state).stages); }

std::vector<StageSpec> stagesOfCopy(const plan::Plan &plan) {
  const plan::Model &model = plan.models.front();
  std::vector<StageSpec> specs;
  for (const StageRange &range : std::span(model.stages).first(vime::depthOf(model.stages)))
    specs.push_back(stageSpec(model.config, range, capsOf(plan.data)));
  return specs;
}

} // namespace

Status snapshot(RankState &state, const Instruction &instruction) {
  const StageSpec &spec = state.model->stages[instruction.stage].spec;
  const auto &header = *reinterpret_cast<const plan::StepHeader *>(instruction.operands[0]);
  std::byte *const to = instruction.operands[3];
  *reinterpret_cast<plan::SnapshotHead *>(to) = {
      .steps = header.step + 1, .updates = header.updates + (state.scalars->bad != 0 ? 0 : 1)};
  if (state.coordinator)
    state.saving.taken = state.coordinator->progress();
  std::memcpy(to + plan::weightsInSnapshot(), instruction.operands[1],
              plan::snapshotWeightBytes(spec));
  std::memcpy(to + plan::momentsInSnapshot(spec), instruction.operands[2], spec.momentBytes);
  return Status();
}

Status checkpointShard(RankState &state, const Instruction &instruction) {
  const RankStage &stage = state.model->stages[instruction.stage];
  const std::byte *const from = instruction.operands[0];
  const auto &head = *reinterpret_cast<const plan::SnapshotHead *>(from);
  const ShardPlace place{.directory = state.model->checkpointTo,
                         .steps = head.steps,
                         .stage = stage.index,
                         .stages = depthOf(state)};
  if (Status status = writeShard(
          place, stage.config, stage.spec,
          {from + plan::weightsInSnapshot(), from + plan::momentsInSnapshot(stage.spec)});
      !status.ok())
    return status;
  auto &stats = *reinterpret_cast<plan::RankStats *>(instruction.operands[1]);
  stats.savedStages = stats.savedSteps == head.steps ? stats.savedStages + 1 : 1;
  stats.savedSteps = head.steps;
  state.saving.progress = state.saving.taken;
  state.saving.progress.updates = head.updates;
  return Status();
}

Status checkpointCommit(RankState &state, const Instruction &instruction) {
  const StatsView ranks(state.plan, instruction.operands[0],
                        state.plan.mesh.pipeline); // of the leading replica
  const std::uint64_t steps = ranks[0].savedSteps;
  if (steps == state.saving.committed)
    return Status(); // nothing new
  std::uint64_t stages = 0;
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank)
    stages += ranks[rank].savedSteps == steps ? ranks[rank].savedStages : 0;
  if (stages != depthOf(state))
    return Status(StatusCode::Internal,
                  fmt::format("the ranks wrote {} shards of {}", stages, depthOf(state)));
  const std::string &directory = state.model->checkpointTo;
  if (Status status = commitCheckpoint({.directory = directory,
                                        .progress = state.saving.progress,
                                        .plan = state.saving.plan,
                                        .identity = identityOf(state.plan)},
                                       modelOf(state).config, stagesOfCopy(state.plan));
      !status.ok())
    return status;
  state.saving.committed = steps;
  state.coordinator->observer().saved(steps);
  return pruneCheckpoints(directory, steps, state.plan.checkpoint.keep);
}

} // namespace vime::routines
