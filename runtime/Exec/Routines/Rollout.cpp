// What the coordinator does in a round: prompts, rewards, and the microbatches of its steps, which
// the first rank of each replica loads.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "runtime/Exec/Coordinator.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/RoundSources.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Rollout/DrawPrompts.h"
#include "runtime/Rollout/GatherSamples.h"
#include "runtime/Rollout/ReplayRound.h"
#include "runtime/Rollout/RoundBatch.h"
#include "runtime/Rollout/RoundDump.h"
#include "runtime/Rollout/Score.h"

namespace vime::routines {
namespace {

using Clock = std::chrono::steady_clock;

const plan::StepHeader &headerAt(const std::byte *address) {
  return *reinterpret_cast<const plan::StepHeader *>(address);
}

/// Among the engines' samples the coordinator's are none.
void leaveEmpty(std::byte *samples) { *reinterpret_cast<plan::BatchHeader *>(samples) = {}; }

RoundRecord recordOf(const RoundReport &report) {
  const ResponseCounts &all = report.responses;
  return {.round = report.round,
          .version = report.version,
          .samples = all.samples,
          .tokens = all.tokens,
          .shortest = all.shortest,
          .longest = all.longest,
          .stopped = all.stopped,
          .cut = all.cut,
          .aborted = all.aborted,
          .rewardMean = report.rewardMean,
          .rewardDeviation = report.rewardDeviation,
          .trainedRewardMean = report.trainedRewardMean,
          .candidates = report.candidates,
          .trained = report.trained,
          .dropped = report.dropped,
          .filled = report.filled,
          .unused = report.unused,
          .syncSeconds = report.seconds.sync,
          .generationSeconds = report.seconds.generation};
}

PromptsRecord recordOf(const EvaluationReport &report) {
  PromptsRecord record{.round = static_cast<std::uint64_t>(report.version - 1),
                       .version = report.version,
                       .prompts = report.prompts,
                       .samples = report.samples,
                       .tokens = report.responses.tokens,
                       .mean = report.mean,
                       .passCount = std::min(report.passAt.size(), PromptsRecord::kMostPassAt),
                       .generationSeconds = report.seconds.generation};
  for (std::size_t entry = 0; entry < record.passCount; ++entry) {
    record.passOf[entry] = report.passAt[entry].first;
    record.passAt[entry] = report.passAt[entry].second;
  }
  return record;
}

StatusOr<RoundBatch> batchOf(const RankState &state, const plan::StepHeader &header,
                             const std::byte *round) {
  return RoundBatch::make(state.plan.round, state.plan.data, state.plan.mesh.data,
                          static_cast<std::uint32_t>(header.step % state.plan.round.rollout.steps),
                          round);
}

/// Slot of a microbatch; of an operand that does not move.
template <typename Value>
Value *slotAs(const RankState &state, const Instruction &instruction, std::uint32_t operand,
              std::uint32_t microbatch) {
  const plan::Buffer &buffer = operandBuffer(state, instruction.action, operand);
  return reinterpret_cast<Value *>(instruction.operands[operand] +
                                   buffer.stride * (microbatch % buffer.count));
}

} // namespace

Status drawPrompts(RankState &state, const Instruction &instruction) {
  leaveEmpty(instruction.operands[2]);
  if (!state.rounds->replay.empty()) { // there is nothing to answer
    leaveEmpty(instruction.operands[1]);
    return Status();
  }
  return vime::drawPrompts(state.plan.round, state.rounds->prompts, state.plan.run.seed,
                           headerAt(instruction.operands[0]).round, instruction.operands[1]);
}

Status drawEvaluation(RankState &state, const Instruction &instruction) {
  leaveEmpty(instruction.operands[2]);
  if (!state.rounds->heldOut)
    return Status(StatusCode::Unacceptable, "a plan without held-out prompts evaluates");
  return vime::drawEvaluation(state.plan.round, *state.rounds->heldOut, instruction.operands[1]);
}

namespace {

Status replay(RankState &state, const Instruction &instruction) {
  StatusOr<RoundReport> report =
      replayRound(state.rounds->replay, state.plan.round, state.plan.models.front().config.vocab,
                  headerAt(instruction.operands[0]).round, instruction.operands[2]);
  if (!report.ok())
    return report.status();
  report->seconds.sync = engineSeconds(state.plan.round, instruction.operands[1]).sync;
  state.coordinator->observer().roundFinished(recordOf(*report));
  return Status();
}

} // namespace

Status score(RankState &state, const Instruction &instruction) {
  if (!state.rounds->replay.empty())
    return replay(state, instruction);
  const RoundSource source{state.plan.round, state.rounds->prompts, state.plan.run.seed,
                           headerAt(instruction.operands[0]).round};
  const std::byte *const samples = instruction.operands[1];
  const Clock::time_point start = Clock::now();
  const StatusOr<ScoredRound> scored =
      scoreRound(source, *state.rounds->reward, samples, instruction.operands[2]);
  if (!scored.ok())
    return scored.status();
  RoundRecord record = recordOf(scored->report);
  record.scoreSeconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!state.rounds->dump.empty())
    if (Status status = writeDump(state.rounds->dump, source, *scored, instruction.operands[2]);
        !status.ok())
      return status;
  state.coordinator->observer().roundFinished(record);
  return Status();
}

/// In front of a round, or behind the loop over them: then by the weights that the last one left.
Status scoreEvaluation(RankState &state, const Instruction &instruction) {
  const bool isBehind =
      !state.program.loops.empty() && instruction.action >= state.program.loops.front().end;
  if (!state.rounds->heldOut)
    return Status(StatusCode::Unacceptable, "a plan without held-out prompts evaluates");
  const std::uint64_t round = headerAt(instruction.operands[0]).round + (isBehind ? 1 : 0);
  const std::byte *const samples = instruction.operands[1];
  const StatusOr<EvaluationReport> report =
      vime::scoreEvaluation({state.plan.round, *state.rounds->heldOut, state.plan.run.seed, round},
                            static_cast<std::int64_t>(round) + 1, *state.rounds->reward, samples);
  if (!report.ok())
    return report.status();
  state.coordinator->observer().promptsEvaluated(recordOf(*report));
  return Status();
}

Status pack(RankState &state, const Instruction &instruction) {
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  const StatusOr<RoundBatch> batch = batchOf(state, header, instruction.operands[1]);
  if (!batch.ok())
    return batch.status();
  header.microbatches = plan::filledUp(state.plan, batch->microbatches());
  header.denominator = 1; // each sample's tokens have been given theirs
  if (header.microbatches == 0)
    return Status(StatusCode::Unacceptable,
                  fmt::format("step {} has {} microbatches, for which the plan is not made",
                              header.step, batch->microbatches()));
  state.coordinator->take(batch->samples());
  return Status();
}

Status loadRound(RankState &state, const Instruction &instruction) {
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  const StatusOr<RoundBatch> batch = batchOf(state, header, instruction.operands[1]);
  if (!batch.ok())
    return batch.status();
  const std::uint32_t slots = plan::mostMicrobatchesOf(state.plan),
                      replica = plan::replicaOf(state.plan.mesh, state.rank);
  if (batch->microbatches() > header.microbatches || header.microbatches > slots)
    return Status(
        StatusCode::Unacceptable,
        fmt::format("{} microbatches in a pass of {}", batch->microbatches(), header.microbatches));
  std::fill(header.tokens(), header.tokens() + slots, 0u);
  for (std::uint32_t microbatch = 0; microbatch < header.microbatches; ++microbatch) {
    const RoundBatch::Place place{.replica = replica, .microbatch = microbatch};
    header.tokens()[microbatch] = batch->tokensOf(place);
    batch->fill(place, {.tokens = slotAs<std::int32_t>(state, instruction, 2, microbatch),
                        .labels = slotAs<std::int32_t>(state, instruction, 3, microbatch),
                        .segments = slotAs<std::int32_t>(state, instruction, 4, microbatch),
                        .policy = slotAs<std::byte>(state, instruction, 5, microbatch)});
  }
  if (state.coordinator)
    state.coordinator->beginTraining();
  return Status();
}

} // namespace vime::routines
