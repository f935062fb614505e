// The update of the parameters, stage by stage, and the global norm between.
#include "runtime/Model/Update.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/SquareSum.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/Model/HuggingFace.h"
#include "runtime/ModelSpec/Masters.h"
#include "runtime/Plan/Kept.h"

namespace vime::routines {
namespace {

const RankStage &stageOf(const RankState &state, const Instruction &instruction) {
  return state.model->stages[instruction.stage];
}

const plan::StepHeader &headerAt(const std::byte *address) {
  return *reinterpret_cast<const plan::StepHeader *>(address);
}

} // namespace

namespace {

/// First values of the whole stage lie in the room of its gradients, which nobody needs yet; the
/// share of this replica stays.
Status initializeShare(const RankState &state, const RankStage &stage,
                       const Instruction &instruction) {
  const Kernels &kernels = *state.model->kernels;
  std::byte *const parameters = instruction.operands[2];
  vime::initializeParameters(kernels, stage.spec, state.plan.run.seed, parameters);
  stage.stage->bringWeights(parameters);
  if (!stage.checkpoint.empty())
    if (Status status = loadStage(stage.checkpoint, stage.config, stage.spec, parameters);
        !status.ok())
      return status;
  keepShare(kernels, stage.spec, stage.share, parameters, instruction.operands[0],
            instruction.operands[1]);
  return Status();
}

/// The same bits that the trained model starts with, also in a run that is resumed. There are no
/// moments that could hold masters, so that they lie elsewhere until they are rounded.
Status initializeReference(const RankState &state, const RankStage &stage, std::byte *weights) {
  const Kernels &kernels = *state.model->kernels;
  const StageSpec &spec = stage.spec;
  std::memset(weights, 0, spec.weightBytes);
  std::vector<std::byte> masters(hasMasters(spec) ? spec.gradientBytes : 0);
  std::byte *const parameters = hasMasters(spec) ? masters.data() : weights;
  vime::initializeParameters(kernels, spec, state.plan.run.seed, parameters);
  stage.stage->bringWeights(weights);
  if (!stage.checkpoint.empty())
    if (Status status = loadStage(stage.checkpoint, stage.config, spec, parameters); !status.ok())
      return status;
  if (hasMasters(spec))
    roundParameters(kernels, spec, parameters, weights);
  return Status();
}

} // namespace

Status initialize(RankState &state, const Instruction &instruction) {
  const RankStage &stage = stageOf(state, instruction);
  if (!stage.isTrained)
    return initializeReference(state, stage, instruction.operands[0]);
  if (stage.isShared())
    return initializeShare(state, stage, instruction);
  const Kernels &kernels = *state.model->kernels;
  std::byte *const weights = instruction.operands[0], *const moments = instruction.operands[1];
  Status loaded;
  if (state.model->resume) {
    loaded = state.model->resume->load(stage.config, stage.spec, {weights, moments});
  } else {
    vime::initialize(kernels, stage.spec, state.plan.run.seed, weights, moments);
    stage.stage->bringWeights(weights);
    if (!stage.checkpoint.empty())
      loaded = loadStage(stage.checkpoint, stage.config, stage.spec,
                         parametersOf(stage.spec, weights, moments));
  }
  roundMasters(kernels, stage.spec, moments, weights);
  return loaded;
}

Status addTied(RankState &state, const Instruction &instruction) {
  vime::addTied(*state.model->kernels, stageOf(state, instruction).spec, instruction.operands[0],
                instruction.operands[1]);
  return Status();
}

Status scaleGradients(RankState &state, const Instruction &instruction) {
  const RankStage &stage = stageOf(state, instruction);
  vime::scaleGradients(*state.model->kernels, stage.spec, stage.share,
                       headerAt(instruction.operands[0]).denominator,
                       instruction.operands[1]); // D6
  return Status();
}

Status squareNorm(RankState &state, const Instruction &instruction) {
  const RankStage &stage = stageOf(state, instruction);
  vime::squareNorm(*state.model->kernels, stage.spec, stage.share, instruction.operands[0],
                   reinterpret_cast<double *>(instruction.operands[1]) +
                       instruction.stage * kSquareNumbers);
  return Status();
}

namespace {

plan::StepScalars scalarsOf(const RankState &state, const double *squares) {
  std::array<double, kSquareNumbers> sum{}; // whole numbers: exact in any order
  for (std::size_t place = 0; place < state.model->counts.size(); ++place)
    for (std::size_t number = 0; state.model->counts[place] && number < kSquareNumbers; ++number)
      sum[number] += squares[place * kSquareNumbers + number];
  const double norm = std::sqrt(valueOfSquares(sum)), largest = state.plan.optimizer.clip;
  // As torch.nn.utils.clip_grad_norm_ has it, 1e-6 included.
  const double factor = largest > 0 ? std::min(1.0, largest / (norm + 1e-6)) : 1.0;
  const bool isBad = !std::isfinite(norm);
  return {.gradientNorm = norm,
          .clipFactor = factor,
          .bad = isBad,
          .verdict = isBad        ? plan::kRefused
                     : factor < 1 ? plan::kClipped
                                  : plan::kStands};
}

const double *squaresAt(const std::byte *address) {
  return reinterpret_cast<const double *>(address);
}

OptimizerStep optimizerStep(const RankState &state, std::uint64_t updates, double learningRate,
                            double factor) {
  const plan::OptimizerSettings &settings = state.plan.optimizer;
  return {.step = updates, // skipped steps do not count
          .learningRate = learningRate,
          .beta1 = settings.beta1,
          .beta2 = settings.beta2,
          .epsilon = settings.epsilon,
          .weightDecay = settings.weightDecay,
          .gradientScale = factor};
}

} // namespace

Status clip(RankState &state, const Instruction &instruction) {
  *reinterpret_cast<plan::StepScalars *>(instruction.operands[1]) =
      scalarsOf(state, squaresAt(instruction.operands[0]));
  return Status();
}

Status settle(RankState &state, const Instruction &instruction) {
  auto &header = *reinterpret_cast<plan::StepHeader *>(instruction.operands[0]);
  auto &scalars = *reinterpret_cast<plan::StepScalars *>(instruction.operands[2]);
  scalars = {.gradientNorm = 0, .clipFactor = 1, .bad = 0, .verdict = plan::kStands};
  if (header.pending == 0)
    return Status();
  scalars = scalarsOf(state, squaresAt(instruction.operands[1]));
  header.updates -= scalars.bad; // the coordinator could not know it yet
  return Status();
}

Status optimize(RankState &state, const Instruction &instruction) {
  const plan::StepHeader &header = headerAt(instruction.operands[0]);
  const auto &scalars = *reinterpret_cast<const plan::StepScalars *>(instruction.operands[1]);
  const RankStage &stage = stageOf(state, instruction);
  vime::optimize(*state.model->kernels, stage.spec, stage.share,
                 optimizerStep(state, header.updates, header.learningRate, scalars.clipFactor),
                 instruction.operands[2], instruction.operands[3], instruction.operands[4]);
  return Status();
}

Status optimizeEarly(RankState &state, const Instruction &instruction) {
  const RankStage &stage = stageOf(state, instruction);
  const StageSpec &spec = stage.spec;
  const plan::StepHeader &header = headerAt(instruction.operands[0]);
  std::byte *const weights = instruction.operands[2], *const moments = instruction.operands[3],
                   *const kept = instruction.operands[4];
  *reinterpret_cast<plan::KeptHead *>(kept) = {.updates = header.updates,
                                               .learningRate = header.learningRate};
  std::memcpy(kept + plan::weightsInKept(), weights, plan::snapshotWeightBytes(spec));
  std::memcpy(kept + plan::momentsInKept(spec), moments, spec.momentBytes);
  vime::optimize(*state.model->kernels, spec, stage.share,
                 optimizerStep(state, header.updates, header.learningRate, /*factor=*/1),
                 instruction.operands[1], weights, moments);
  return Status();
}

Status redo(RankState &state, const Instruction &instruction) {
  const RankStage &stage = stageOf(state, instruction);
  const StageSpec &spec = stage.spec;
  const Kernels &kernels = *state.model->kernels;
  const auto &scalars = *reinterpret_cast<const plan::StepScalars *>(instruction.operands[0]);
  const std::byte *const kept = instruction.operands[2];
  std::byte *const weights = instruction.operands[3], *const moments = instruction.operands[4];
  std::memcpy(weights, kept + plan::weightsInKept(), plan::snapshotWeightBytes(spec));
  std::memcpy(moments, kept + plan::momentsInKept(spec), spec.momentBytes);
  roundMasters(kernels, spec, moments, weights);
  if (scalars.verdict == plan::kRefused)
    return Status();
  const auto &head = *reinterpret_cast<const plan::KeptHead *>(kept);
  vime::optimize(kernels, spec, stage.share,
                 optimizerStep(state, head.updates, head.learningRate, scalars.clipFactor),
                 instruction.operands[1], weights, moments);
  return Status();
}

} // namespace vime::routines
