// What belongs to no model: copies, joins, counters.
#include <algorithm>
#include <cstring>
#include <numeric>

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

/// In ascending microbatch: always the same sum.
double sumOfLosses(const RankState &state, const Instruction &instruction,
                   const plan::StepHeader &header) {
  const std::byte *losses = instruction.operands[1];
  const std::uint64_t stride = losses ? operandBuffer(state, instruction.action, 1).stride : 0;
  double sum = 0;
  for (std::uint32_t microbatch = 0; losses && microbatch < header.microbatches; ++microbatch)
    sum += *reinterpret_cast<const double *>(losses + microbatch * stride);
  return sum;
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
  stats.tokens =
      std::accumulate(header.tokens(), header.tokens() + header.microbatches, std::uint64_t(0));
  stats.loss = sumOfLosses(state, instruction, header);
  counters = {.since = now};
  return Status();
}

} // namespace vime::routines
