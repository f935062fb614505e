// Tasks of a stage: operands in, one call, nothing else.
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/Model/PolicySettings.h"
#include "runtime/Plan/Slices.h"

namespace vime::routines {
namespace {

const Stage &stageOf(const RankState &state, const Instruction &instruction) {
  return *state.model->stages[instruction.stage].stage;
}

/// Operand 1 of every task: offsets of the packed samples of the microbatch. The last microbatch of
/// an epoch may have fewer than others: then empty ones stand behind them.
Segments segmentsOf(const RankState &state, const Instruction &instruction) {
  const auto *offsets = reinterpret_cast<const std::int32_t *>(instruction.operands[1]);
  auto samples = static_cast<std::int32_t>(state.plan.data.samples);
  while (samples > 1 && offsets[samples - 1] == offsets[samples])
    --samples;
  return {offsets, samples, plan::firstPosition(state.plan.data, instruction.microbatch)};
}

bool overwrites(const Instruction &instruction) {
  return (instruction.immediate & plan::kOverwriteGradients) != 0;
}

} // namespace

Status forward(RankState &state, const Instruction &instruction) {
  std::byte *const *at = instruction.operands;
  stageOf(state, instruction)
      .forward(segmentsOf(state, instruction), {.input = at[2],
                                                .weights = at[3],
                                                .stash = at[4],
                                                .output = at[5],
                                                .workspace = at[6],
                                                .tiedWeights = at[7],
                                                .context = at[8]});
  return Status();
}

Status loss(RankState &state, const Instruction &instruction) {
  std::byte *const *at = instruction.operands;
  stageOf(state, instruction)
      .loss(segmentsOf(state, instruction),
            {.labels = reinterpret_cast<const std::int32_t *>(at[2]),
             .stash = at[3],
             .loss = reinterpret_cast<double *>(at[4])});
  return Status();
}

Status policyLoss(RankState &state, const Instruction &instruction) {
  std::byte *const *at = instruction.operands;
  const plan::PolicyRegion in = plan::policyRegion(state.plan.data.tokens, state.plan.data.samples);
  const auto numbers = [&](std::size_t offset) {
    return reinterpret_cast<const double *>(at[3] + offset);
  };
  stageOf(state, instruction)
      .policyLoss(segmentsOf(state, instruction),
                  {.labels = reinterpret_cast<const std::int32_t *>(at[2]),
                   .advantages = numbers(in.advantages),
                   .old = numbers(in.old),
                   .sampled = numbers(in.sampled),
                   .denominators = numbers(in.denominators),
                   .reference = reinterpret_cast<const double *>(at[7]),
                   .stash = at[4],
                   .numbers = reinterpret_cast<plan::PolicyNumbers *>(at[5]),
                   .workspace = at[6]},
                  policyLossSettings(state.plan.round.algorithm));
  return Status();
}

Status logProbabilities(RankState &state, const Instruction &instruction) {
  std::byte *const *at = instruction.operands;
  stageOf(state, instruction)
      .logProbabilities(segmentsOf(state, instruction),
                        {.labels = reinterpret_cast<const std::int32_t *>(at[2]),
                         .stash = at[3],
                         .logProbabilities = reinterpret_cast<double *>(at[4])});
  return Status();
}

Status backward(RankState &state, const Instruction &instruction) {
  std::byte *const *at = instruction.operands;
  stageOf(state, instruction)
      .backward(segmentsOf(state, instruction), overwrites(instruction),
                {.outputGradient = at[2],
                 .input = at[3],
                 .weights = at[4],
                 .stash = at[5],
                 .gradients = at[6],
                 .inputGradient = at[7],
                 .workspace = at[8],
                 .tiedWeights = at[9],
                 .tiedGradients = at[10],
                 .context = at[11],
                 .contextGradients = at[12]});
  return Status();
}

Status backwardInput(RankState &state, const Instruction &instruction) {
  std::byte *const *at = instruction.operands;
  stageOf(state, instruction)
      .backwardInput(segmentsOf(state, instruction), {.outputGradient = at[2],
                                                      .input = at[3],
                                                      .weights = at[4],
                                                      .stash = at[5],
                                                      .weightStash = at[6],
                                                      .inputGradient = at[7],
                                                      .workspace = at[8],
                                                      .tiedWeights = at[9],
                                                      .context = at[10],
                                                      .contextGradients = at[11]});
  return Status();
}

Status backwardWeight(RankState &state, const Instruction &instruction) {
  std::byte *const *at = instruction.operands;
  stageOf(state, instruction)
      .backwardWeight(segmentsOf(state, instruction), overwrites(instruction),
                      {.outputGradient = at[2],
                       .input = at[3],
                       .weights = at[4],
                       .stash = at[5],
                       .weightStash = at[6],
                       .gradients = at[7],
                       .workspace = at[8],
                       .tiedGradients = at[9]});
  return Status();
}

} // namespace vime::routines
