// Advantages that need log-probabilities: of all microbatches of a step, where the head is.
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"
#include "runtime/Model/PolicySettings.h"
#include "runtime/ModelSpec/PolicyWorkspace.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Policy/StepAdvantages.h"

namespace vime::routines {
namespace {

/// The operands of `advantage`, microbatch by microbatch.
class Microbatches {
public:
  Microbatches(const RankState &state, const Instruction &instruction)
      : state(state), instruction(instruction), caps(plan::capsOf(state.plan.data)),
        region(plan::policyRegion(caps.tokens, caps.segments)), workspace(policyWorkspaceOf(caps)) {
  }

  /// Calls `visit` for each that has tokens, until it fails.
  template <typename Visit> Status forEach(Visit visit) const {
    const plan::StepHeader &header = *state.header;
    for (std::uint32_t index = 0; index < header.microbatches; ++index)
      if (const std::uint32_t tokens = header.tokens()[index]; tokens != 0)
        if (Status status = visit(at(index, tokens)); !status.ok())
          return status;
    return Status();
  }

private:
  template <typename Value> Value *slot(std::uint32_t operand, std::uint32_t microbatch) const {
    const plan::Buffer &buffer = operandBuffer(state, instruction.action, operand);
    return reinterpret_cast<Value *>(instruction.operands[operand] +
                                     buffer.stride * (microbatch % buffer.count));
  }

  MicrobatchAdvantages at(std::uint32_t microbatch, std::uint32_t tokens) const {
    const auto *const offsets = slot<const std::uint32_t>(1, microbatch);
    const auto *const labels = slot<const std::int32_t>(2, microbatch);
    auto *const policy = slot<std::byte>(3, microbatch);
    auto *const mask = reinterpret_cast<std::uint8_t *>(instruction.operands[5] + workspace.mask);
    for (std::uint32_t token = 0; token < tokens; ++token)
      mask[token] = labels[token] >= 0 ? 1 : 0;
    std::uint32_t segments = caps.segments;
    while (segments > 1 && offsets[segments - 1] == offsets[segments])
      --segments;
    return {.sequences = {{offsets, segments + std::size_t{1}}, {mask, tokens}},
            .old = {reinterpret_cast<const double *>(policy + region.old), tokens},
            .reference = {slot<const double>(4, microbatch), tokens},
            .advantages = {reinterpret_cast<double *>(policy + region.advantages), tokens}};
  }

  const RankState &state;
  const Instruction &instruction;
  const MicrobatchCaps caps;
  const plan::PolicyRegion region;
  const PolicyWorkspace workspace;
};

} // namespace

Status advantage(RankState &state, const Instruction &instruction) {
  const Microbatches microbatches(state, instruction);
  StepAdvantages step(stepAdvantageSettings(state.plan.round.algorithm));
  if (Status status =
          microbatches.forEach([&](const MicrobatchAdvantages &one) { return step.lessen(one); });
      !status.ok())
    return status;
  step.takeMean();
  if (Status status = microbatches.forEach([&](const MicrobatchAdvantages &one) {
        step.addSquares(one);
        return Status();
      });
      !status.ok())
    return status;
  return microbatches.forEach([&](const MicrobatchAdvantages &one) {
    step.whiten(one);
    return Status();
  });
}

} // namespace vime::routines
