// What belongs to no model: copies, joins, counters.
#include <algorithm>
#include <cstring>

#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/Plan/StepHeader.h"

namespace vime::routines {

Status copy(RankState &state, const Instruction &instruction) {
  const std::uint64_t bytes = std::min(operandBuffer(state, instruction.action, 0).bytes,
                                       operandBuffer(state, instruction.action, 1).bytes);
  std::memcpy(instruction.operands[1], instruction.operands[0], bytes);
  return Status();
}

Status join(RankState &, const Instruction &) { return Status(); }

Status measure(RankState &state, const Instruction &instruction) {
  Counters &counters = state.counters;
  const auto now = std::chrono::steady_clock::now();
  auto &stats = *reinterpret_cast<plan::RankStats *>(instruction.operands[0]);
  stats.computeNanoseconds = counters.computeNanoseconds;
  stats.stepNanoseconds = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - counters.since).count());
  stats.actions = counters.actions;
  stats.exportedTensors = 0;
  counters = {.since = now};
  return Status();
}

} // namespace vime::routines
