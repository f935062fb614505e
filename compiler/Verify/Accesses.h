// Accesses: which slots of which buffers an action reads and writes.
//
//   const AccessReader accesses(table, rank);
//   accesses.forEach(entry, [&](const SlotAccess &access) { … });
//
// A task uses the slot of its microbatch, of what slices share the one of all its slices, where the
// slice that begins it reads nothing. A message with bytes per token moves that slot too; one
// of fixed size, and a collective, moves its bytes from the start of slot 0; everything else uses
// all slots. An engine reads its weights whenever it generates, though they are no operands: it was
// told once where they lie.
#pragma once

#include <algorithm>
#include <array>

#include "compiler/Verify/ActionTable.h"
#include "runtime/Plan/Slices.h"

namespace vime::verify {

/// Opcodes in a small range: sixteen a family.
constexpr std::size_t kOpcodes = 256, kMaxOperands = 16;
/// In the place of an operand: the weights that `generate` reads.
constexpr std::uint8_t kEngineWeights = kMaxOperands - 1;
static_assert(static_cast<std::size_t>(plan::Family::Rollout) < 16);
constexpr std::uint8_t opcodeIndex(std::uint16_t opcode) {
  return static_cast<std::uint8_t>((opcode >> 8) * 16 + (opcode & 15));
}
constexpr std::uint8_t opcodeIndex(plan::Opcode opcode) { return opcodeIndex(plan::code(opcode)); }

/// By `opcodeIndex`; null where no opcode of this version is.
const std::array<const plan::Signature *, kOpcodes> &signatureTable();
/// As `plan::findSignature`.
const plan::Signature *signatureOf(std::uint16_t opcode);

/// What an action does to one operand: slots [first, end) in the rank's numbering, of which [whole,
/// end) only in part.
struct SlotAccess {
  std::uint32_t buffer = 0;
  std::uint32_t first = 0, end = 0, whole = 0;
  std::uint8_t operand = 0; // position in the signature
  bool reads = false, writes = false;
  bool perMicrobatch = false; // its content belongs to the microbatch of the action
};

/// A signature as far as it does not depend on the single action.
struct AccessShape {
  struct Operand {
    bool reads = false, writes = false;
    bool perMicrobatch = false;
    enum class Begins : std::uint8_t { Never, FirstSlice, LastSlice };
    Begins begins = Begins::Never; // in which slice nothing of it is read
  };
  std::array<Operand, kMaxOperands> operands;
  std::uint8_t count = 0;
  bool movesBytes = false; // of a message
  bool perMicrobatch = false;
};

/// Bytes that a transfer or collective moves from the start of its operand; 0: those of a slot, by
/// its tokens.
std::uint64_t fixedBytes(const ActionTable &table, const RankView &rank, const plan::Action &action,
                         std::uint8_t operand);

/// Whose content a slot of the buffer holds: the same for all microbatches that share it.
inline std::uint32_t ownerIn(const ActionTable &table, const RankView &rank, std::uint32_t buffer,
                             std::uint32_t microbatch) {
  return microbatch / microbatchesPerSlot(table.plan().data, rank.layout->buffers[buffer].kind);
}

bool isRootOf(const plan::Plan &plan, std::uint32_t group, std::uint32_t rank);

/// Largest number of bytes of a message with bytes per token.
std::uint64_t tokenBytes(const plan::Plan &plan, const plan::Message &message);

class AccessReader {
public:
  AccessReader(const ActionTable &table, const RankView &rank);

  template <typename Visit> void forEach(std::uint32_t entry, Visit &&visit) const {
    const plan::Action &action = table.action(rank, entry);
    const bool special = isGroup[action.lane] ? isRoot[action.lane]
                                              : (action.immediate & plan::kOverwriteGradients) != 0;
    const AccessShape &shape = shapes[opcodeIndex(action.opcode)][special];
    const std::uint32_t microbatch = shape.perMicrobatch ? table.microbatch(rank, entry) : 0;
    const std::uint32_t *operands = rank.program->operands.data() + action.operands;
    for (std::uint8_t operand = 0; operand < shape.count; ++operand) {
      const AccessShape::Operand use = shape.operands[operand];
      const std::uint32_t buffer = operands[operand];
      if (buffer == plan::kNoBuffer || !(use.reads || use.writes))
        continue;
      const SlotRange slots = rank.slots[buffer];
      SlotAccess access{buffer,
                        slots.first,
                        slots.first + slots.count,
                        slots.first + slots.count,
                        operand,
                        use.reads && !begins(use, microbatch),
                        use.writes,
                        use.perMicrobatch};
      if (!(access.reads || access.writes))
        continue;
      if (shape.movesBytes && !movesSlot[action.lane]) {
        moveBytes(action, access);
      } else if (shape.perMicrobatch) {
        access.first += slotOf(slots, buffer, microbatch);
        access.end = access.first + 1;
        access.whole = access.end - (movesPart[action.lane] ? 1 : 0);
      } else { // a slot of each microbatch of its pass, whatever other passes have
        access.whole = access.end =
            access.first +
            std::min(slots.count, table.microbatchesOf(static_cast<plan::Opcode>(action.opcode)));
      }
      visit(static_cast<const SlotAccess &>(access));
    }
    if (action.opcode == plan::code(plan::Opcode::Generate))
      for (const std::uint32_t buffer : engineWeights) {
        const std::uint32_t first = rank.slots[buffer].first,
                            end = first + rank.slots[buffer].count;
        visit(static_cast<const SlotAccess &>(
            SlotAccess{buffer, first, end, end, kEngineWeights, /*reads=*/true}));
      }
  }

private:
  bool begins(const AccessShape::Operand &use, std::uint32_t microbatch) const {
    using enum AccessShape::Operand::Begins;
    return use.begins == FirstSlice  ? isFirstSlice(table.plan().data, microbatch)
           : use.begins == LastSlice ? isLastSlice(table.plan().data, microbatch)
                                     : false;
  }
  std::uint32_t slotOf(SlotRange slots, std::uint32_t buffer, std::uint32_t microbatch) const {
    const plan::Buffer &of = rank.layout->buffers[buffer];
    if (isShared(of.kind))
      microbatch /= table.plan().data.slices;
    if (microbatch < slots.count)
      return microbatch;
    const std::uint32_t slot = microbatch % of.count;
    return slot < slots.count ? slot : slot % slots.count;
  }
  void moveBytes(const plan::Action &action, SlotAccess &access) const;

  const ActionTable &table;
  const RankView &rank;
  const std::array<std::array<AccessShape, 2>, kOpcodes>
      &shapes; // second: of the root, or of what overwrites
  std::array<bool, plan::Wait::kMaxLanes> isGroup{}, isRoot{}, movesSlot{},
      movesPart{}; // of each lane; a part: less of a slot than the stages compute
  std::vector<std::uint32_t> engineWeights; // buffers; none where nothing is generated
};

} // namespace vime::verify
