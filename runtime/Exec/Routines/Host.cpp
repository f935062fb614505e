// What the coordinator does between steps, and the export.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/Data/Share.h"
#include "runtime/Exec/Coordinator.h"
#include "runtime/Exec/LearningRate.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/Exec/StatsView.h"
#include "runtime/Model/HuggingFace.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Mesh.h"

namespace vime::routines {
namespace {

template <typename Value>
Value *slotAs(const RankState &state, const Instruction &instruction, std::uint32_t operand,
              std::uint32_t microbatch) {
  const plan::Buffer &buffer = operandBuffer(state, instruction.action, operand);
  return reinterpret_cast<Value *>(instruction.operands[operand] +
                                   buffer.stride * (microbatch % buffer.count));
}

/// The replica's share of the step that `text` has begun. Operands 1 to 3 of `load` and its like:
/// tokens, labels, segments; and in the header how many tokens each microbatch has. Those from the
/// end of the share to `microbatches` are empty. Of samples in slices the text knows whole
/// microbatches only.
Status fill(const RankState &state, const Instruction &instruction, const TextDataset &text,
            plan::StepHeader &header, std::uint32_t microbatches) {
  const plan::Mesh &mesh = state.plan.mesh;
  const Share share = shareOf(text.microbatches(), mesh.data, plan::replicaOf(mesh, state.rank));
  const std::uint32_t slots = plan::mostMicrobatchesOf(state.plan), slices = state.plan.data.slices;
  if (share.count * slices > microbatches || microbatches > slots)
    return Status(StatusCode::Unacceptable, fmt::format("{} microbatches in a pass of {}",
                                                        share.count * slices, microbatches));
  std::fill(header.tokens(), header.tokens() + slots, 0u);
  for (std::uint32_t microbatch = 0; microbatch < microbatches; ++microbatch) {
    const std::uint32_t whole = microbatch / slices;
    const TextDataset::Part part{whole < share.count ? share.first + whole : text.microbatches(),
                                 microbatch % slices};
    header.tokens()[microbatch] = text.tokensOf(part);
    if (Status status = text.fill(part, slotAs<std::int32_t>(state, instruction, 1, microbatch),
                                  slotAs<std::int32_t>(state, instruction, 2, microbatch),
                                  slotAs<std::int32_t>(state, instruction, 3, microbatch));
        !status.ok())
      return status;
  }
  return Status();
}

/// What the first ranks of all replicas have measured, added in ascending order.
struct Measured {
  double loss = 0;
  std::uint64_t tokens = 0;
};
Measured sumOf(const StatsView &ranks, const plan::Mesh &mesh) {
  Measured sum;
  for (std::uint32_t first = 0; first < ranks.ranks(); first += mesh.pipeline) {
    sum.loss += ranks[first].loss;
    sum.tokens += ranks[first].tokens;
  }
  return sum;
}

/// Of a step also what other ranks have: losses of another copy of the model, or none.
Measured sumOfStep(const StatsView &ranks, const plan::Mesh &mesh) {
  Measured sum = sumOf(ranks, mesh);
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank)
    sum.loss += rank % mesh.pipeline == 0 ? 0 : ranks[rank].loss;
  return sum;
}

/// Of all ranks that train.
StatsView statsOf(const RankState &state, const std::byte *at) {
  return {state.plan, at, state.plan.mesh.trainers()};
}

/// Means of what all replicas have found, added in ascending order.
PolicyRecord policyOf(const StatsView &ranks) {
  plan::PolicyNumbers sum;
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    const plan::PolicyNumbers &one = ranks.policyOf(rank);
    sum.kl += one.kl;
    sum.ratio += one.ratio;
    sum.entropy += one.entropy;
    sum.drift = std::max(sum.drift, one.drift);
    sum.clipped += one.clipped;
    sum.corrected += one.corrected;
    sum.tokens += one.tokens;
  }
  const double each = sum.tokens > 0 ? 1 / sum.tokens : 0;
  return {.kl = sum.kl * each,
          .ratio = sum.ratio * each,
          .entropy = sum.entropy * each,
          .clipped = sum.clipped * each,
          .corrected = sum.corrected * each,
          .drift = sum.drift,
          .tokens = sum.tokens};
}

bool savesBehind(const plan::Plan &plan, std::uint64_t steps) {
  const std::uint64_t every = plan.checkpoint.every;
  return every != 0 && (steps % every == 0 || steps == plan.run.steps);
}

/// The files have one copy of the model.
std::span<const StageRange> stagesOfCopy(const plan::Model &model) {
  return std::span(model.stages).first(depthOf(model.stages));
}

/// Of all ranks together.
std::uint64_t tensorsOf(const plan::Plan &plan) {
  const plan::Model &model = plan.models.front();
  std::uint64_t tensors = 0;
  for (const StageRange &range : stagesOfCopy(model))
    for (const TensorSpec &tensor : stageSpec(model.config, range, capsOf(plan.data)).tensors)
      tensors += tensor.sources.size();
  return tensors;
}

} // namespace

namespace {

/// What the coordinator knows of the step that begins, whatever its samples are.
plan::StepHeader beginStep(const plan::Plan &plan, Coordinator &coordinator) {
  const std::uint64_t step = coordinator.nextStep(), steps = plan.run.steps;
  const std::uint32_t ofRound = plan.round.rollout.steps;
  const bool isLast = step + 1 == steps;
  plan::StepHeader header{.step = step,
                          .updates = coordinator.updates() + (coordinator.isPending() ? 1 : 0),
                          .denominator = 0,
                          .learningRate = learningRateOf(plan.optimizer, steps, step),
                          .save = savesBehind(plan, step + 1),
                          .stop = isLast,
                          .pending = coordinator.isPending(),
                          .rollout = plan::hasRounds(plan) && step % ofRound == 0,
                          .round = step / ofRound};
  const std::uint64_t every =
      plan::hasRounds(plan) ? plan.round.evaluation.every : plan.evaluation.every;
  if (plan::hasRounds(plan)) // in front of the round
    header.evaluate = every != 0 && header.rollout != 0 && header.round % every == 0;
  else
    header.evaluate = every != 0 && ((step + 1) % every == 0 || isLast);
  header.settle = header.evaluate | header.save | header.stop;
  coordinator.leavePending(plan::isPostValidated(plan) && header.settle == 0);
  return header;
}

} // namespace

/// Of a round, how many microbatches there are `pack` knows.
Status decide(RankState &state, const Instruction &instruction) {
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  header = beginStep(state.plan, *state.coordinator);
  if (plan::hasRounds(state.plan)) {
    header.microbatches = state.plan.data.microbatches;
    return Status();
  }
  if (!state.text)
    return Status(StatusCode::Unacceptable, "a rank decides that loads no samples");
  TextDataset &text = *state.text;
  text.begin(header.step);
  const std::uint32_t needed =
      largestShare(text.microbatches(), state.plan.mesh.data) * state.plan.data.slices;
  header.microbatches = plan::filledUp(state.plan, needed);
  if (header.microbatches == 0) // the compiler has packed every step: with another rule than this
    return Status(StatusCode::Unacceptable,
                  fmt::format("step {} has {} microbatches, for which the plan is not made",
                              header.step, needed));
  state.coordinator->take(text.samplesOfStep());
  // In a text every token has a label: the next one.
  header.denominator = static_cast<double>(text.tokensOfStep());
  return Status();
}

Status load(RankState &state, const Instruction &instruction) {
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  state.text->begin(header.step); // packed as by the coordinator
  return fill(state, instruction, *state.text, header, header.microbatches);
}

Status report(RankState &state, const Instruction &instruction) {
  const auto &scalars = *reinterpret_cast<const plan::StepScalars *>(instruction.operands[0]);
  const auto ranks = statsOf(state, instruction.operands[1]);
  const plan::RankStats &own = ranks[0]; // of the coordinator, which has made the header
  const Measured measured = sumOfStep(ranks, state.plan.mesh);
  StepRecord record{.step = own.step,
                    .gradientNorm = scalars.gradientNorm,
                    .learningRate = own.learningRate,
                    .microbatches = static_cast<std::uint32_t>(own.microbatches),
                    .skipped = scalars.bad};
  record.tokens = measured.tokens;
  record.loss = own.denominator > 0 ? measured.loss / own.denominator : measured.loss; // D6
  if (plan::hasRounds(state.plan)) {
    record.ofRound = 1;
    record.policy = policyOf(ranks);
    record.policy.seconds = state.coordinator->trainingSeconds();
  }
  state.coordinator->finishStep(scalars.bad != 0);
  state.coordinator->observer().stepFinished(record, ranks.copy());
  return Status();
}

Status loadEvaluation(RankState &state, const Instruction &instruction) {
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  if (!state.heldOut)
    return Status(StatusCode::Unacceptable, "a plan without held-out text evaluates");
  state.heldOut->begin(0); // always the same samples
  return fill(state, instruction, *state.heldOut, header, state.plan.evaluation.microbatches);
}

Status reportEvaluation(RankState &state, const Instruction &instruction) {
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  const Measured measured = sumOf(statsOf(state, instruction.operands[1]), state.plan.mesh);
  EvaluationRecord record{.step = header.step,
                          .loss = measured.loss / static_cast<double>(measured.tokens),
                          .tokens = measured.tokens};
  const bool goesOn = state.coordinator->goesOnAfter(record.loss);
  record.ends = !goesOn && header.stop == 0;
  if (!goesOn) {
    header.stop = 1;
    header.save = state.plan.checkpoint.every != 0; // as behind every last step
  }
  state.coordinator->observer().evaluated(record);
  return Status();
}

Status exportShard(RankState &state, const Instruction &instruction) {
  const RankStage &stage = state.model->stages[instruction.stage];
  const StatusOr<std::uint64_t> tensors =
      vime::exportShard(state.model->exportTo, stage.config, stage.spec, stage.index,
                        depthOf(state.plan.models.front().stages), instruction.operands[0]);
  if (!tensors.ok())
    return tensors.status();
  reinterpret_cast<plan::RankStats *>(instruction.operands[1])->exportedTensors += *tensors;
  return Status();
}

Status exportCommit(RankState &state, const Instruction &instruction) {
  const StatsView stats(state.plan, instruction.operands[0], state.plan.mesh.pipeline);
  std::uint64_t written = 0;
  for (std::uint32_t rank = 0; rank < state.plan.mesh.pipeline; ++rank) // of the leading replica
    written += stats[rank].exportedTensors;
  if (const std::uint64_t expected = tensorsOf(state.plan); written != expected)
    return Status(StatusCode::Internal,
                  fmt::format("the ranks wrote {} tensors of {}", written, expected));
  const plan::Model &model = state.plan.models.front();
  std::vector<StageSpec> specs;
  for (const StageRange &range : stagesOfCopy(model))
    specs.push_back(stageSpec(model.config, range, capsOf(state.plan.data)));
  if (Status status =
          vime::exportCommit(state.model->exportTo, model.config, specs, state.plan.data.sequence);
      !status.ok())
    return status;
  state.coordinator->observer().exported();
  return Status();
}

} // namespace vime::routines
