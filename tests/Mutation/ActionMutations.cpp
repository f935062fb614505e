// What an action is: its kind, microbatch, stage, operands, lane and flags.
#include <algorithm>
#include <array>

#include "runtime/Plan/Opcode.h"
#include "tests/Mutation/PlanMutations.h"

namespace vime {
namespace {

using namespace plan;

bool retargetMicrobatch(Mutant &mutant) {
  mutant.anyAction().microbatch =
      mutant.below(std::max(mutant.plan.data.microbatches, mutant.plan.evaluation.microbatches));
  return true;
}

bool retargetStage(Mutant &mutant) {
  mutant.anyAction().stage = static_cast<std::uint16_t>(mutant.below(mutant.program.stages.size()));
  return mutant.program.stages.size() > 1;
}

bool retargetOperand(Mutant &mutant) {
  const Action &action = mutant.anyAction();
  if (action.operandCount == 0)
    return false;
  const std::uint32_t index = mutant.below(action.operandCount);
  std::uint32_t &operand = mutant.program.operands[action.operands + index];
  const std::uint32_t before = operand;
  operand = mutant.below(mutant.layout.buffers.size());
  // Half of them stay of their kind, so that the reader has nothing to say.
  const auto &buffers = mutant.layout.buffers;
  if (before != kNoBuffer && mutant.coin())
    for (std::uint32_t step = 1; step < buffers.size(); ++step) {
      const auto other = static_cast<std::uint32_t>((before + step) % buffers.size());
      if (buffers[other].kind == buffers[before].kind)
        return operand = other, true;
    }
  mutant.what += " operand " + std::to_string(index);
  return true;
}

/// Of a pool in which actions share their operands, only this one's.
bool retargetOwnOperand(Mutant &mutant) {
  Action &action = mutant.anyAction();
  if (action.operandCount == 0)
    return false;
  auto &pool = mutant.program.operands;
  const auto first = static_cast<std::uint32_t>(pool.size());
  for (std::uint32_t index = 0; index < action.operandCount; ++index)
    pool.push_back(pool[action.operands + index]);
  action.operands = first;
  const std::uint32_t index = mutant.below(action.operandCount);
  const auto &buffers = mutant.layout.buffers;
  mutant.what += " operand " + std::to_string(index);
  std::uint32_t &operand = pool[first + index];
  if (operand == kNoBuffer)
    return false;
  for (std::uint32_t step = 1; step < buffers.size(); ++step) {
    const auto other = static_cast<std::uint32_t>((operand + step) % buffers.size());
    if (buffers[other].kind == buffers[operand].kind)
      return operand = other, true;
  }
  operand = mutant.below(buffers.size());
  return true;
}

bool dropOperand(Mutant &mutant) {
  const Action &action = mutant.anyAction();
  if (action.operandCount == 0)
    return false;
  mutant.program.operands[action.operands + mutant.below(action.operandCount)] = kNoBuffer;
  return true;
}

bool relane(Mutant &mutant) {
  Action &action = mutant.anyAction();
  // Lanes of the same kind, if there are others.
  std::vector<std::uint8_t> same;
  for (std::uint32_t lane = 0; lane < mutant.program.lanes.size(); ++lane)
    if (lane != action.lane &&
        mutant.program.lanes[lane].kind == mutant.program.lanes[action.lane].kind)
      same.push_back(static_cast<std::uint8_t>(lane));
  action.lane = same.empty() || mutant.below(8) == 0
                    ? static_cast<std::uint8_t>(mutant.below(mutant.program.lanes.size()))
                    : same[mutant.below(same.size())];
  return true;
}

bool changeOpcode(Mutant &mutant) {
  Action &action = mutant.anyAction();
  const auto all = signatures();
  const Signature *before = findSignature(action.opcode);
  for (int attempt = 0; attempt < 8; ++attempt) {
    const Signature &other = all[mutant.below(all.size())];
    action.opcode = code(other.opcode);
    if (other.lane == before->lane && other.operands.size() == before->operands.size() &&
        &other != before)
      break;
  }
  return true;
}

bool flipOverwrite(Mutant &mutant) {
  std::vector<Action *> adding;
  for (Action &action : mutant.program.actions)
    if (action.opcode == code(Opcode::Backward) || action.opcode == code(Opcode::BackwardWeight))
      adding.push_back(&action);
  if (adding.empty())
    return false;
  adding[mutant.below(adding.size())]->immediate ^= kOverwriteGradients;
  return true;
}

bool flipFlag(Mutant &mutant) {
  constexpr std::array<std::uint8_t, 3> kFlags = {kSkipIfEmpty, kSkipIfEmpty, kHostBlocking};
  mutant.anyAction().flags ^= kFlags[mutant.below(kFlags.size())];
  return true;
}

bool changeStep(Mutant &mutant) {
  std::vector<Action *> moving;
  for (Action &action : mutant.program.actions)
    if (action.step != 0)
      moving.push_back(&action);
  if (moving.empty())
    return false;
  Action &action = *moving[mutant.below(moving.size())];
  action.step = static_cast<std::uint8_t>(mutant.coin() ? 0 : action.step + 1);
  return true;
}

constexpr std::array kMutations = {
    PlanMutation{"retarget a microbatch", retargetMicrobatch},
    PlanMutation{"retarget a stage", retargetStage},
    PlanMutation{"retarget an operand", retargetOperand},
    PlanMutation{"retarget one action's operand", retargetOwnOperand},
    PlanMutation{"drop an operand", dropOperand},
    PlanMutation{"re-lane", relane},
    PlanMutation{"another opcode", changeOpcode},
    PlanMutation{"overwrite or add", flipOverwrite},
    PlanMutation{"a flag", flipFlag},
    PlanMutation{"advance in a loop", changeStep},
};

} // namespace

std::span<const PlanMutation> actionMutations() { return kMutations; }

} // namespace vime
