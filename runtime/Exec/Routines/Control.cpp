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

namespace {

/// Tokens and losses of the replica's microbatches, added in ascending order: always the same sum.
/// An empty one has left no loss. `losses` may be null.
void addUp(plan::RankStats &stats, const plan::StepHeader &header, std::uint32_t microbatches,
           const std::byte *losses, std::uint64_t stride) {
  stats.tokens = 0;
  stats.loss = 0;
  for (std::uint32_t microbatch = 0; microbatch < microbatches; ++microbatch) {
    const std::uint32_t tokens = header.tokens()[microbatch];
    stats.tokens += tokens;
    if (losses && tokens != 0)
      stats.loss += *reinterpret_cast<const double *>(losses + microbatch * stride);
  }
}

} // namespace

Status measure(RankState &state, const Instruction &instruction) {
  const auto &header = *reinterpret_cast<const plan::StepHeader *>(instruction.operands[0]);
  Counters &counters = state.counters;
  const auto now = std::chrono::steady_clock::now();
  auto &stats = *reinterpret_cast<plan::RankStats *>(instruction.operands[2]);
  stats.computeNanoseconds = counters.computeNanoseconds;
  stats.stepNanoseconds = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - counters.since).count());
  stats.actions = counters.actions;
  stats.exportedTensors = 0;
  const std::byte *losses = instruction.operands[1];
  addUp(stats, header, header.microbatches, losses,
        losses ? operandBuffer(state, instruction.action, 1).stride : 0);
  counters = {.since = now};
  return Status();
}

Status measureEvaluation(RankState &state, const Instruction &instruction) {
  addUp(*reinterpret_cast<plan::RankStats *>(instruction.operands[2]),
        *reinterpret_cast<const plan::StepHeader *>(instruction.operands[0]),
        state.plan.evaluation.microbatches, instruction.operands[1],
        operandBuffer(state, instruction.action, 1).stride);
  return Status();
}

} // namespace vime::routines
