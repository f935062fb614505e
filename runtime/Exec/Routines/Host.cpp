// What the coordinator does between steps, and the export.
#include <fmt/format.h>

#include "runtime/Exec/Coordinator.h"
#include "runtime/Exec/LearningRate.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/Model/HuggingFace.h"
#include "runtime/Plan/Decisions.h"

namespace vime::routines {
namespace {

template <typename Value>
Value *slotAs(const RankState &state, const Instruction &instruction, std::uint32_t operand,
              std::uint32_t microbatch) {
  const plan::Buffer &buffer = operandBuffer(state, instruction.action, operand);
  return reinterpret_cast<Value *>(instruction.operands[operand] +
                                   buffer.stride * (microbatch % buffer.count));
}

/// Says in the header how many tokens each microbatch has; the sum.
std::uint64_t fillTokens(const plan::Plan &plan, const TextDataset &text, std::uint64_t step,
                         plan::StepHeader &header) {
  std::uint64_t all = 0;
  const std::uint32_t slots = plan::mostMicrobatchesOf(plan);
  for (std::uint32_t microbatch = 0; microbatch < slots; ++microbatch)
    all += header.tokens()[microbatch] = text.tokensOf(step, microbatch);
  return all;
}

/// Operands 1 to 3 of `load` and its like: tokens, labels, segments.
Status fill(const RankState &state, const Instruction &instruction, const TextDataset &text,
            std::uint64_t step, std::uint32_t microbatches) {
  for (std::uint32_t microbatch = 0; microbatch < microbatches; ++microbatch)
    if (Status status =
            text.fill(step, microbatch, slotAs<std::int32_t>(state, instruction, 1, microbatch),
                      slotAs<std::int32_t>(state, instruction, 2, microbatch),
                      slotAs<std::int32_t>(state, instruction, 3, microbatch));
        !status.ok())
      return status;
  return Status();
}

/// Operand 1; ascending: always the same sum.
double sumOfLosses(const RankState &state, const Instruction &instruction,
                   std::uint32_t microbatches) {
  double sum = 0;
  for (std::uint32_t microbatch = 0; microbatch < microbatches; ++microbatch)
    sum += *slotAs<const double>(state, instruction, 1, microbatch);
  return sum;
}

bool savesBehind(const plan::Plan &plan, std::uint64_t steps) {
  const std::uint64_t every = plan.checkpoint.every;
  return every != 0 && (steps % every == 0 || steps == plan.run.steps);
}

/// Of all ranks together.
std::uint64_t tensorsOf(const plan::Plan &plan) {
  const plan::Model &model = plan.models.front();
  std::uint64_t tensors = 0;
  for (const StageRange &range : model.stages)
    for (const TensorSpec &tensor : stageSpec(model.config, range, capsOf(plan.data)).tensors)
      tensors += tensor.sources.size();
  return tensors;
}

} // namespace

Status decide(RankState &state, const Instruction &instruction) {
  Coordinator &coordinator = *state.coordinator;
  const TextDataset &text = coordinator.text();
  const std::uint64_t step = coordinator.nextStep(), steps = state.plan.run.steps;
  const std::uint64_t every = state.plan.evaluation.every;
  const bool isLast = step + 1 == steps;
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  header = {.step = step,
            .updates = coordinator.updates(),
            .denominator = 0,
            .learningRate = learningRateOf(state.plan.optimizer, steps, step),
            .microbatches = text.microbatchesOf(step),
            .evaluate = every != 0 && ((step + 1) % every == 0 || isLast),
            .save = savesBehind(state.plan, step + 1),
            .stop = isLast};
  // In a text every token has a label: the next one.
  header.denominator = static_cast<double>(fillTokens(state.plan, text, step, header));
  return Status();
}

Status load(RankState &state, const Instruction &instruction) {
  const auto &header = *reinterpret_cast<const plan::StepHeader *>(instruction.operands[0]);
  return fill(state, instruction, state.coordinator->text(), header.step, header.microbatches);
}

Status report(RankState &state, const Instruction &instruction) {
  const auto &header = *reinterpret_cast<const plan::StepHeader *>(instruction.operands[0]);
  const auto &scalars = *reinterpret_cast<const plan::StepScalars *>(instruction.operands[2]);
  StepRecord record{.step = header.step,
                    .gradientNorm = scalars.gradientNorm,
                    .learningRate = header.learningRate,
                    .microbatches = header.microbatches,
                    .skipped = scalars.bad};
  record.loss = sumOfLosses(state, instruction, header.microbatches);
  for (std::uint32_t microbatch = 0; microbatch < header.microbatches; ++microbatch)
    record.tokens += header.tokens()[microbatch];
  if (header.denominator > 0)
    record.loss /= header.denominator;
  state.coordinator->finishStep(scalars.bad != 0);
  state.coordinator->observer().stepFinished(
      record, {reinterpret_cast<const plan::RankStats *>(instruction.operands[3]),
               state.plan.mesh.ranks()});
  return Status();
}

Status loadEvaluation(RankState &state, const Instruction &instruction) {
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  const TextDataset &text = state.coordinator->heldOut();
  fillTokens(state.plan, text, /*step=*/0, header); // always the same samples
  return fill(state, instruction, text, /*step=*/0, state.plan.evaluation.microbatches);
}

Status reportEvaluation(RankState &state, const Instruction &instruction) {
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  const std::uint32_t microbatches = state.plan.evaluation.microbatches;
  EvaluationRecord record{.step = header.step};
  for (std::uint32_t microbatch = 0; microbatch < microbatches; ++microbatch)
    record.tokens += header.tokens()[microbatch];
  record.loss = sumOfLosses(state, instruction, microbatches) / static_cast<double>(record.tokens);
  const bool goesOn = state.coordinator->goesOnAfter(record.loss, state.plan.evaluation);
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
  const StatusOr<std::uint64_t> tensors = vime::exportShard(
      state.model->exportTo, stage.config, stage.spec, stage.index,
      static_cast<std::uint32_t>(state.plan.models.front().stages.size()), instruction.operands[0]);
  if (!tensors.ok())
    return tensors.status();
  reinterpret_cast<plan::RankStats *>(instruction.operands[1])->exportedTensors += *tensors;
  return Status();
}

Status exportCommit(RankState &state, const Instruction &instruction) {
  const auto *stats = reinterpret_cast<const plan::RankStats *>(instruction.operands[0]);
  std::uint64_t written = 0;
  for (std::uint32_t rank = 0; rank < state.plan.mesh.ranks(); ++rank)
    written += stats[rank].exportedTensors;
  if (const std::uint64_t expected = tensorsOf(state.plan); written != expected)
    return Status(StatusCode::Internal,
                  fmt::format("the ranks wrote {} tensors of {}", written, expected));
  const plan::Model &model = state.plan.models.front();
  std::vector<StageSpec> specs;
  for (const StageRange &range : model.stages)
    specs.push_back(stageSpec(model.config, range, capsOf(state.plan.data)));
  if (Status status =
          vime::exportCommit(state.model->exportTo, model.config, specs, state.plan.data.sequence);
      !status.ok())
    return status;
  state.coordinator->observer().exported();
  return Status();
}

} // namespace vime::routines
