#include "runtime/Plan/Allowance.h"

#include <algorithm>
#include <numeric>

#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Describe.h"

namespace vime::plan {

std::uint64_t processAllowance(const Plan &plan) {
  const bool needsLibTorch =
      std::any_of(plan.models.begin(), plan.models.end(), [](const Model &model) {
        return model.config.kernels == KernelLibrary::LibTorch ||
               model.config.family == ModelFamily::TorchScript;
      });
  return kProcessAllowance + plan.data.textBytes + plan.evaluation.textBytes +
         kPromptAllowance * (plan.round.prompts.bytes + plan.round.evaluation.prompts.bytes) +
         plan.run.steps * (kStepAllowance + (hasRounds(plan) ? kRoundAllowance : 0)) +
         (needsLibTorch ? kLibTorchAllowance : 0);
}

namespace {

/// Of a rank that loads samples.
std::uint64_t textAllowance(const Plan &plan) {
  const std::uint64_t most = (plan.data.textBytes + plan.evaluation.textBytes) / 2;
  return (plan.data.split == Split::Window ? 0 : most * kSampleAllowance) +
         (plan.data.batch + plan.evaluation.batch) * kPackedAllowance;
}

/// Of the coordinator of rounds; an evaluation is never dumped.
std::uint64_t samplesAllowance(const Plan &plan) {
  const RolloutSettings &rollout = plan.round.rollout;
  const std::uint64_t generated = std::uint64_t{rollout.candidates} * rollout.samples,
                      heldOut = std::uint64_t{plan.round.evaluation.count} *
                                plan.round.evaluation.samples;
  return std::max(generated, heldOut) *
             (kSampleOfRoundAllowance + rollout.rows() * kScoredAllowance) +
         (rollout.dump.empty() ? 0 : generated * rollout.rows() * kDumpedAllowance);
}

} // namespace

std::uint64_t rankAllowance(const Plan &plan, std::uint32_t rank) {
  const Program &program = *programOf(plan, rank);
  const DataSettings &data = plan.data;
  std::uint64_t bytes = kRankAllowance + program.actions.size() * kActionAllowance;
  for (const LocalStage &local : program.stages) {
    const Model &model = plan.models[local.model];
    const ModelConfig &config = model.config;
    // Cosines and sines of every position.
    bytes += std::uint64_t{data.sequence} * config.headWidth * sizeOf(config.type);
    if (!model.checkpoint.empty())
      bytes += stageSpec(config, model.stages[local.stage], capsOf(data)).weightBytes;
  }
  if (plan.mesh.isEngine(rank)) // cosines and sines, for the whole model
    bytes += std::uint64_t{plan.round.rollout.rows()} * plan.models.front().config.headWidth *
             sizeof(double);
  else if (rank % plan.mesh.pipeline == 0)
    bytes += textAllowance(plan);
  if (rank == 0 && hasRounds(plan))
    bytes += samplesAllowance(plan);
  return bytes;
}

std::uint64_t arenaBytes(const Plan &plan, std::uint32_t rank) {
  const auto &arena = layoutOf(plan, rank)->arena;
  return std::accumulate(arena.begin(), arena.end(), std::uint64_t{0});
}

} // namespace vime::plan
