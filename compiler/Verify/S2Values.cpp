#include "compiler/Verify/S2Values.h"

namespace vime::verify {

using namespace plan;

namespace {

/// Operands that a send or the root of a broadcast reads, and what copies into them: only their content is followed to
/// other ranks.
std::vector<char> travelling(const ActionTable &table, const RankView &rank) {
  std::vector<char> buffers(rank.slots.size(), 0);
  for (std::uint32_t entry = rank.first; entry < rank.end; ++entry) {
    const Action &action = table.action(rank, entry);
    const bool moves = action.opcode == code(Opcode::Send) || action.opcode == code(Opcode::Broadcast) ||
                       action.opcode == code(Opcode::Copy);
    for (std::uint16_t operand = 0; moves && operand < action.operandCount; ++operand)
      buffers[rank.program->operands[action.operands + operand]] = 1;
  }
  return buffers;
}

} // namespace

Value SlotValues::valueAfter(const Instance &now, const SlotAccess &access, std::uint32_t slot) const {
  const Action &action = table.action(rank, now.entry);
  switch (static_cast<Opcode>(action.opcode)) {
  case Opcode::Receive:
  case Opcode::Broadcast:
    return messageAfter(now, access, slot);
  case Opcode::Copy: {
    const std::uint32_t source = rank.program->operands[action.operands];
    const std::uint32_t microbatch = table.microbatch(rank, now.entry);
    return slots[rank.slots[source].first + microbatch % rank.layout->buffers[source].count];
  }
  default:
    break;
  }
  const std::uint8_t opcode = opcodeIndex(action.opcode);
  Value value{productOf(opcode, access.operand), static_cast<std::uint8_t>(now.iteration), 0,
              table.microbatch(rank, now.entry), now.instant, now.entry};
  if (signatures()[opcode].perStage)
    value.stage = static_cast<std::uint16_t>(rank.stages[action.stage]);
  return value;
}

Value SlotValues::messageAfter(const Instance &now, const SlotAccess &access, std::uint32_t slot) const {
  Value value{kUntold, static_cast<std::uint8_t>(now.iteration), 0, 0, now.instant, now.entry};
  const LaneView &lane = table.lane(rank, table.action(rank, now.entry).lane);
  const bool matched = table.laneOf(lane).kind == LaneKind::Group ? table.groups()[lane.stream].matched
                                                                  : table.channels()[lane.stream].matched;
  if (!matched)
    return value;
  value.product = slot < access.whole ? kMessage : kTorn;
  value.entry = table.lanes()[lane.partner].first + (now.position - lane.first);
  value.microbatch = slot - access.first;
  return value;
}

SentValues::SentValues(const ActionTable &table) : table(table) {
  for (std::vector<std::uint32_t> &positions : first)
    positions.assign(table.dispatched().size(), kNone);
  for (const RankView &rank : table.ranks())
    addRank(rank);
}

void SentValues::addRank(const RankView &rank) {
  SlotValues slots(table, rank);
  const std::vector<char> relevant = travelling(table, rank);
  forEachInstant(table, rank, [&](const Instance &now) {
    forEachAccess(table, rank, now.entry, [&](const SlotAccess &access) {
      if (!relevant[access.buffer])
        return;
      const std::uint16_t opcode = table.action(rank, now.entry).opcode;
      if (access.reads && (opcode == code(Opcode::Send) || opcode == code(Opcode::Broadcast)))
        add(now, access, slots);
      for (std::uint32_t slot = access.first; access.writes && slot < access.end; ++slot)
        slots.set(slot, slots.valueAfter(now, access, slot));
    });
  });
}

void SentValues::add(const Instance &now, const SlotAccess &access, const SlotValues &slots) {
  first[now.iteration][now.position] = static_cast<std::uint32_t>(values.size());
  for (std::uint32_t slot = access.first; slot < access.end; ++slot)
    values.push_back(slots[slot]);
}

Value SentValues::resolve(Value value) const {
  // Handed on from rank to rank at most once each; what goes round in a circle comes from nowhere.
  for (std::size_t hop = 0; value.product == kMessage; ++hop) {
    const std::uint32_t begin = first[value.iteration][value.entry];
    if (hop > table.ranks().size() || begin == kNone || begin + value.microbatch >= values.size()) {
      value.product = kUntold;
      break;
    }
    value = values[begin + value.microbatch];
  }
  return value;
}

} // namespace vime::verify
