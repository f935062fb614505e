// What a rank that generates does: each action is a call of its engine.
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/Plan/StepHeader.h"
#include "runtime/Rollout/EngineHost.h"
#include "runtime/Transport/Sleeper.h"

namespace vime::routines {

Status wake(RankState &state, const Instruction &instruction) {
  return state.engine->wake(instruction.operands[0]);
}

Status pause(RankState &state, const Instruction &) { return state.engine->pause(); }

Status flush(RankState &state, const Instruction &) { return state.engine->flush(); }

Status install(RankState &state, const Instruction &instruction) {
  return state.engine->install(state.model->stages[instruction.stage].index,
                               instruction.operands[0]);
}

/// The weights that round r begins with have version r + 1; those behind the last round, one more.
Status publish(RankState &state, const Instruction &instruction) {
  const auto &header = *reinterpret_cast<const plan::StepHeader *>(instruction.operands[0]);
  return state.engine->publish(static_cast<std::int64_t>(header.round) + 1 + instruction.immediate);
}

Status resume(RankState &state, const Instruction &) { return state.engine->resume(); }

Status generate(RankState &state, const Instruction &instruction) {
  return state.engine->generate(instruction.operands[0], instruction.operands[3],
                                instruction.operands[4], [&state] {
                                  if (state.recorder)
                                    state.recorder->advance();
                                  return !state.sleeper || !state.sleeper->interrupted();
                                });
}

} // namespace vime::routines
