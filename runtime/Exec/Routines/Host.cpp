// What the coordinator does between steps, and the export.
#include <fmt/format.h>

#include "runtime/Exec/Coordinator.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/Model/HuggingFace.h"
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
  const plan::DataSettings &data = state.plan.data;
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  header.step = state.coordinator->nextStep();
  header.microbatches = data.microbatches;
  header.updates = header.step;
  header.evaluate = header.stop = 0;
  header.save = savesBehind(state.plan, header.step + 1);
  header.learningRate = state.plan.optimizer.learningRate;
  // In a text every token has a label: the next one.
  header.denominator = static_cast<double>(std::uint64_t{data.sequence} * data.samples *
                                           data.microbatches * state.plan.mesh.data);
  return Status();
}

Status load(RankState &state, const Instruction &instruction) {
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  const plan::DataSettings &data = state.plan.data;
  // Replica d takes microbatches d·m … d·m + m - 1 of the step.
  const std::uint32_t first = plan::replicaOf(state.plan.mesh, state.rank) * data.microbatches;
  for (std::uint32_t microbatch = 0; microbatch < header.microbatches; ++microbatch) {
    header.tokens()[microbatch] = data.sequence * data.samples;
    if (Status status = state.text->fill(header.step, first + microbatch,
                                         slotAs<std::int32_t>(state, instruction, 1, microbatch),
                                         slotAs<std::int32_t>(state, instruction, 2, microbatch),
                                         slotAs<std::int32_t>(state, instruction, 3, microbatch));
        !status.ok())
      return status;
  }
  return Status();
}

Status report(RankState &state, const Instruction &instruction) {
  const auto &header = *reinterpret_cast<const plan::StepHeader *>(instruction.operands[0]);
  const auto &scalars = *reinterpret_cast<const plan::StepScalars *>(instruction.operands[1]);
  const plan::Mesh &mesh = state.plan.mesh;
  const std::span<const plan::RankStats> ranks(
      reinterpret_cast<const plan::RankStats *>(instruction.operands[2]), mesh.ranks());
  StepRecord record{.step = header.step,
                    .gradientNorm = scalars.gradientNorm,
                    .learningRate = header.learningRate};
  for (std::size_t first = 0; first < ranks.size(); first += mesh.pipeline) { // of each replica
    record.loss += ranks[first].loss;
    record.tokens += ranks[first].tokens;
  }
  if (header.denominator > 0)
    record.loss /= header.denominator;
  state.coordinator->observer().stepFinished(record, ranks);
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
  for (std::uint32_t rank = 0; rank < state.plan.mesh.pipeline; ++rank) // of the leading replica
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
