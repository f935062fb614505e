// Tasks of a stage: operands in, one call, nothing else.
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"

namespace vime::routines {
namespace {

const Stage &stageOf(const RankState &state, const Instruction &instruction) {
  return *state.model->stages[instruction.stage].stage;
}

/// Operand 1 of every task: offsets of the packed samples of the microbatch.
Segments segmentsOf(const RankState &state, const Instruction &instruction) {
  return {reinterpret_cast<const std::int32_t *>(instruction.operands[1]),
          static_cast<std::int32_t>(state.plan.data.samples)};
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
                                                .tiedWeights = at[7]});
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
                 .tiedGradients = at[10]});
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
                                                      .tiedWeights = at[9]});
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
