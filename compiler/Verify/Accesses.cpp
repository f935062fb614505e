#include "compiler/Verify/Accesses.h"

namespace vime::verify {

using namespace plan;

namespace {

constexpr std::size_t kOpcodes = 32, kSpace = 0x800;

struct Tables {
  std::array<std::uint8_t, kSpace> index;
  std::array<std::array<AccessShape, 2>, kOpcodes> shapes;

  Tables() {
    index.fill(kUnknownOpcode);
    const auto all = signatures();
    for (std::size_t position = 0; position < all.size(); ++position) {
      index[code(all[position].opcode)] = static_cast<std::uint8_t>(position);
      for (const bool special : {false, true})
        shapes[position][special] = shapeOf(all[position], special);
    }
  }

  static AccessShape::Operand useOf(const Signature &signature, const OperandSignature &operand, bool special) {
    // Gradients are summed over microbatches, a workspace holds nothing: neither belongs to one.
    const bool owned = signature.perMicrobatch && operand.name != "gradients" && operand.name != "workspace";
    switch (operand.access) {
    case Access::Read:
      return {true, false, owned};
    case Access::Write:
      return {false, true, owned};
    case Access::ReadWrite:
      return {!(special && operand.name == "gradients"), true, owned};
    case Access::RootReadOthersWrite:
      return {special, !special, owned};
    case Access::RootWrite:
      return {false, special, owned};
    }
    return {};
  }

  static AccessShape shapeOf(const Signature &signature, bool special) {
    AccessShape shape;
    shape.count = static_cast<std::uint8_t>(signature.operands.size());
    shape.movesBytes = signature.family == Family::Transfer || signature.family == Family::Collective;
    shape.perMicrobatch = signature.perMicrobatch;
    for (std::uint8_t operand = 0; operand < shape.count; ++operand)
      shape.operands[operand] = useOf(signature, signature.operands[operand], special);
    return shape;
  }
};

const Tables &tables() {
  static const Tables kTables;
  return kTables;
}

} // namespace

std::uint8_t opcodeIndex(std::uint16_t opcode) {
  static const Tables &kTables = tables();
  return opcode < kSpace ? kTables.index[opcode] : kUnknownOpcode;
}

const Signature *signatureOf(std::uint16_t opcode) {
  const std::uint8_t index = opcodeIndex(opcode);
  return index == kUnknownOpcode ? nullptr : &signatures()[index];
}

const AccessShape &accessShape(std::uint8_t index, bool special) {
  static const Tables &kTables = tables();
  return kTables.shapes[index][special];
}

std::uint64_t fixedBytes(const ActionTable &table, const RankView &rank, const Action &action, std::uint8_t operand) {
  const Lane &lane = rank.program->lanes[action.lane];
  if (lane.kind != LaneKind::Group)
    return lane.message.perToken != 0 ? 0 : lane.message.fixed;
  const std::uint64_t bytes = table.plan().groups[lane.group].message.fixed;
  return operand == 1 ? bytes * table.ranks().size() : bytes; // a destination holds what all members gave
}

std::uint64_t tokenBytes(const Plan &plan, const Message &message) {
  const std::uint64_t tokens = std::uint64_t{plan.data.sequence} * plan.data.samples;
  return message.fixed + tokens * message.perToken;
}

bool isRoot(const ActionTable &table, const RankView &rank, const Lane &lane) {
  return table.plan().groups[lane.group].root == rank.rank;
}

} // namespace vime::verify
