// Transfers and collectives: hand the bytes to the transport and go on.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Routines/Routines.h"

namespace vime::routines {
namespace {

/// fixed + perToken × tokens of the microbatch: computed alike at both ends, no size travels.
std::uint64_t bytesOf(const RankState &state, const Instruction &instruction) {
  const MessageSize &size = state.messages[instruction.lane];
  return size.perToken == 0
             ? size.fixed
             : size.fixed + size.perToken * state.header->tokens()[instruction.microbatch];
}

Status post(RankState &state, const Instruction &instruction, const void *source,
            void *destination) {
  const std::uint64_t bytes = bytesOf(state, instruction);
  if (state.messages[instruction.lane].perToken != 0) // D2: the header's value is in range
    if (const plan::Buffer &buffer = operandBuffer(state, instruction.action, 0);
        bytes > buffer.bytes)
      return Status(StatusCode::Unacceptable,
                    fmt::format("the step header says {} tokens, {} bytes; the buffer has {}",
                                state.header->tokens()[instruction.microbatch], bytes,
                                buffer.bytes));
  return state.transport->post(instruction.end, {source, destination, bytes});
}

Status postSum(RankState &state, const Instruction &instruction, std::uint64_t bytes) {
  const plan::Group &group = state.plan.groups[state.program.lanes[instruction.lane].group];
  return state.transport->post(instruction.end,
                               {.destination = instruction.operands[0],
                                .bytes = bytes,
                                .type = group.message.type,
                                .staging = instruction.operands[1],
                                .stagingBytes = operandBuffer(state, instruction.action, 1).bytes});
}

} // namespace

Status send(RankState &state, const Instruction &instruction) {
  return post(state, instruction, instruction.operands[0], nullptr);
}

Status receive(RankState &state, const Instruction &instruction) {
  return post(state, instruction, nullptr, instruction.operands[0]);
}

Status broadcast(RankState &state, const Instruction &instruction) {
  return post(state, instruction, instruction.operands[0], instruction.operands[0]);
}

Status gather(RankState &state, const Instruction &instruction) {
  return post(state, instruction, instruction.operands[0], instruction.operands[1]);
}

Status allGather(RankState &state, const Instruction &instruction) {
  return post(state, instruction, instruction.operands[0], instruction.operands[1]);
}

/// As many bytes as the shares have, which the message does not state.
Status unshard(RankState &state, const Instruction &instruction) {
  return state.transport->post(instruction.end,
                               {instruction.operands[0], instruction.operands[1],
                                state.model->stages[instruction.stage].regions.weightShareBytes});
}

/// The part of the weights that the action names, where they lie at every member.
Status broadcastWeights(RankState &state, const Instruction &instruction) {
  const std::uint64_t all = state.model->stages[instruction.stage].spec.weightBytes,
                      part = state.messages[instruction.lane].fixed,
                      first = part * instruction.immediate;
  if (first >= all)
    return Status(StatusCode::Unacceptable,
                  fmt::format("part {} of weights of {} bytes, each of {}", instruction.immediate,
                              all, part));
  std::byte *const at = instruction.operands[0] + first;
  return state.transport->post(instruction.end, {at, at, std::min(part, all - first)});
}

/// Of the whole buffer, which the message does not state.
Status sum(RankState &state, const Instruction &instruction) {
  return postSum(state, instruction, operandBuffer(state, instruction.action, 0).bytes);
}

/// Of all shares: a buffer may be larger.
Status reduceScatter(RankState &state, const Instruction &instruction) {
  return postSum(state, instruction, state.model->stages[instruction.stage].regions.gradientBytes);
}

} // namespace vime::routines
