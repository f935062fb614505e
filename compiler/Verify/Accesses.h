// Accesses: which slots of which buffers an action reads and writes.
//
//   forEachAccess(table, rank, entry, [&](const SlotAccess &access) { … });
//
// A task uses the slot of its microbatch. A message with bytes per token moves that slot too; one of fixed size, and a
// collective, moves its bytes from the start of slot 0; everything else uses all slots.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "compiler/Verify/ActionTable.h"

namespace vime::verify {

/// Position of the opcode in `plan::signatures()`; kUnknownOpcode if this version has none.
constexpr std::uint8_t kUnknownOpcode = 0xFF;
std::uint8_t opcodeIndex(std::uint16_t opcode);
/// As `plan::findSignature`, by table.
const plan::Signature *signatureOf(std::uint16_t opcode);

/// What an action does to one operand: slots [first, end) in the rank's numbering, of which [whole, end) only in part.
struct SlotAccess {
  std::uint8_t operand = 0; // position in the signature
  std::uint32_t buffer = 0;
  std::uint32_t first = 0, end = 0, whole = 0;
  bool reads = false, writes = false;
  bool perMicrobatch = false; // its content belongs to the microbatch of the action
};

/// Signature with everything resolved that does not depend on the single action.
struct AccessShape {
  struct Operand {
    bool reads = false, writes = false;
    bool perMicrobatch = false;
  };
  std::array<Operand, 10> operands;
  std::uint8_t count = 0;
  bool movesBytes = false; // of a message
  bool perMicrobatch = false;
};

/// `special`: the rank is the collective's root, or the weight gradient overwrites.
const AccessShape &accessShape(std::uint8_t opcodeIndex, bool special);

/// Bytes that a transfer or collective moves from the start of its operand; 0: those of a slot, by its tokens.
std::uint64_t fixedBytes(const ActionTable &table, const RankView &rank, const plan::Action &action, std::uint8_t operand);

/// Largest number of bytes of a message with bytes per token.
std::uint64_t tokenBytes(const plan::Plan &plan, const plan::Message &message);

bool isRoot(const ActionTable &table, const RankView &rank, const plan::Lane &lane);

template <typename Visit>
void forEachAccess(const ActionTable &table, const RankView &rank, std::uint32_t entry, Visit &&visit) {
  const plan::Action &action = table.action(rank, entry);
  const plan::Lane &lane = rank.program->lanes[action.lane];
  const bool special = lane.kind == plan::LaneKind::Group ? isRoot(table, rank, lane)
                                                          : (action.immediate & plan::kOverwriteGradients) != 0;
  const AccessShape &shape = accessShape(opcodeIndex(action.opcode), special);
  const std::uint32_t microbatch = table.microbatch(rank, entry);
  for (std::uint8_t operand = 0; operand < shape.count; ++operand) {
    const std::uint32_t buffer = rank.program->operands[action.operands + operand];
    const AccessShape::Operand use = shape.operands[operand];
    if (buffer == plan::kNoBuffer || !(use.reads || use.writes))
      continue;
    const SlotRange slots = rank.slots[buffer];
    SlotAccess access{operand, buffer, slots.first, slots.first + slots.count, slots.first + slots.count,
                      use.reads, use.writes, use.perMicrobatch};
    const std::uint64_t bytes = shape.movesBytes ? fixedBytes(table, rank, action, operand) : 0;
    if (bytes != 0) {
      access.perMicrobatch = false;
      const plan::Buffer &moved = rank.layout->buffers[buffer];
      const std::uint64_t stride = std::max<std::uint64_t>(moved.stride, 1);
      access.end = slots.first + static_cast<std::uint32_t>(std::min<std::uint64_t>((bytes + stride - 1) / stride, slots.count));
      const std::uint64_t whole = bytes < moved.bytes ? 0 : (bytes - moved.bytes) / stride + 1;
      access.whole = slots.first + static_cast<std::uint32_t>(std::min<std::uint64_t>(whole, slots.count));
    } else if (shape.perMicrobatch) {
      access.first += microbatch < slots.count ? microbatch : microbatch % rank.layout->buffers[buffer].count;
      access.whole = access.end = access.first + 1;
    }
    visit(static_cast<const SlotAccess &>(access));
  }
}

} // namespace vime::verify
