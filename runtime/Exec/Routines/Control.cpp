// What belongs to no model: copies, joins, counters.
#include <algorithm>
#include <cstring>

#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/StepHeader.h"

namespace vime::routines {

Status copy(RankState &state, const Instruction &instruction) {
  const std::uint64_t bytes = std::min(operandBuffer(state, instruction.action, 0).bytes,
                                       operandBuffer(state, instruction.action, 1).bytes);
  std::memcpy(instruction.operands[1], instruction.operands[0], bytes);
  return Status();
}

/// Bytes stay where they are until something else is written there.
Status reshard(RankState &, const Instruction &) { return Status(); }

Status join(RankState &, const Instruction &) { return Status(); }

namespace {

/// Microbatches whose losses are on a rank: from `first` on every so many.
struct OwnLosses {
  std::uint32_t first = 0, every = 1;
  bool have(std::uint32_t microbatch) const { return microbatch % every == first; }
};

/// Of several copies of the model each has losses of its own, on the rank with its head.
OwnLosses ownLosses(const RankState &state) {
  const std::vector<StageRange> &stages = state.plan.models.front().stages;
  const std::uint32_t depth = depthOf(stages);
  for (const plan::LocalStage &local : state.program.stages)
    if (stages[local.stage].head)
      return {local.stage / depth, copiesOf(stages)};
  return {};
}

/// Tokens of the replica's microbatches, and losses, added in ascending order: always the same sum.
/// An empty one has left no loss. `losses` may be null.
void addUp(plan::RankStats &stats, const plan::StepHeader &header, std::uint32_t microbatches,
           const std::byte *losses, std::uint64_t stride, OwnLosses own = {}) {
  stats.tokens = 0;
  stats.loss = 0;
  for (std::uint32_t microbatch = 0; microbatch < microbatches; ++microbatch) {
    const std::uint32_t tokens = header.tokens()[microbatch];
    stats.tokens += tokens;
    if (losses && tokens != 0 && own.have(microbatch))
      stats.loss += *reinterpret_cast<const double *>(losses + microbatch * stride);
  }
}

/// Of the same microbatches what the policy's loss says of them.
void addUpPolicy(plan::PolicyNumbers &sum, const plan::StepHeader &header, const std::byte *losses,
                 std::uint64_t stride, OwnLosses own) {
  sum = {};
  for (std::uint32_t microbatch = 0; losses && microbatch < header.microbatches; ++microbatch) {
    if (header.tokens()[microbatch] == 0 || !own.have(microbatch))
      continue;
    const auto &one = *reinterpret_cast<const plan::PolicyNumbers *>(losses + microbatch * stride);
    sum.loss += one.loss;
    sum.kl += one.kl;
    sum.ratio += one.ratio;
    sum.entropy += one.entropy;
    sum.drift = std::max(sum.drift, one.drift);
    sum.clipped += one.clipped;
    sum.corrected += one.corrected;
    sum.tokens += one.tokens;
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
  stats.step = header.step;
  stats.denominator = header.denominator;
  stats.learningRate = header.learningRate;
  stats.microbatches = header.microbatches;
  const std::uint64_t stride = losses ? operandBuffer(state, instruction.action, 1).stride : 0;
  addUp(stats, header, header.microbatches, losses, stride, ownLosses(state));
  if (plan::hasRounds(state.plan))
    addUpPolicy(*reinterpret_cast<plan::PolicyNumbers *>(&stats + 1), header, losses, stride,
                ownLosses(state));
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
