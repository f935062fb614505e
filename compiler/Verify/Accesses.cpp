#include "compiler/Verify/Accesses.h"

#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Names.h"

namespace vime::verify {

using namespace plan;

namespace {

using Shapes = std::array<std::array<AccessShape, 2>, kOpcodes>;

bool isSum(std::string_view operand) {
  return operand == "gradients" || operand == "tied_gradients";
}

AccessShape::Operand::Begins beginsOf(std::string_view operand) {
  using enum AccessShape::Operand::Begins;
  return operand == "context" ? FirstSlice : operand == "context_gradients" ? LastSlice : Never;
}

AccessShape::Operand useOf(const Signature &signature, const OperandSignature &operand,
                           bool special) {
  // Gradients are summed over microbatches, a workspace holds nothing: neither belongs to one.
  const bool owned = signature.perMicrobatch && !isSum(operand.name) && operand.name != "workspace";
  switch (operand.access) {
  case Access::Read:
    return {true, false, owned, beginsOf(operand.name)};
  case Access::Write:
    return {false, true, owned};
  case Access::ReadWrite: {
    const bool adds =
        signature.opcode == Opcode::Backward || signature.opcode == Opcode::BackwardWeight;
    return {!(special && adds && isSum(operand.name)), true, owned, beginsOf(operand.name)};
  }
  case Access::RootReadOthersWrite:
    return {special, !special, owned};
  case Access::RootWrite:
    return {false, special, owned};
  }
  return {};
}

AccessShape shapeOf(const Signature &signature, bool special) {
  AccessShape shape;
  shape.count = static_cast<std::uint8_t>(signature.operands.size());
  // A sum, and a share, is of the whole buffer, which its message does not state.
  const auto operation = enumeratorOf<Collective>(signature.name);
  shape.movesBytes = signature.family == Family::Transfer ||
                     (signature.family == Family::Collective && !movesOperands(*operation));
  shape.perMicrobatch = signature.perMicrobatch;
  for (std::uint8_t operand = 0; operand < shape.count; ++operand)
    shape.operands[operand] = useOf(signature, signature.operands[operand], special);
  return shape;
}

Shapes buildShapes() {
  Shapes shapes;
  for (const Signature &signature : signatures())
    for (const bool special : {false, true})
      shapes[opcodeIndex(signature.opcode)][special] = shapeOf(signature, special);
  return shapes;
}

const Shapes &accessShapes() {
  static const Shapes kShapes = buildShapes();
  return kShapes;
}

std::array<const Signature *, kOpcodes> buildSignatures() {
  std::array<const Signature *, kOpcodes> table{};
  for (const Signature &signature : signatures())
    table[opcodeIndex(signature.opcode)] = &signature;
  return table;
}

} // namespace

const std::array<const Signature *, kOpcodes> &signatureTable() {
  static const auto kTable = buildSignatures();
  return kTable;
}

const Signature *signatureOf(std::uint16_t opcode) {
  const Signature *signature = signatureTable()[opcodeIndex(opcode) % kOpcodes];
  return signature && code(signature->opcode) == opcode ? signature : nullptr;
}

std::uint64_t fixedBytes(const ActionTable &table, const RankView &rank, const Action &action,
                         std::uint8_t operand) {
  const Lane &lane = rank.program->lanes[action.lane];
  if (lane.kind != LaneKind::Group)
    return lane.message.perToken != 0 ? 0 : lane.message.fixed;
  const Group &group = table.plan().groups[lane.group];
  const std::uint64_t bytes = group.message.fixed;
  // A destination holds what all members gave, also those that are not in the table.
  return operand == 1 ? bytes * memberCount(table.plan().mesh, group) : bytes;
}

std::uint64_t tokenBytes(const Plan &plan, const Message &message) {
  return message.fixed + std::uint64_t{plan.data.tokens} * message.perToken;
}

bool isRootOf(const Plan &plan, std::uint32_t group, std::uint32_t rank) {
  return memberIndex(plan.mesh, rank, plan.groups[group]) == plan.groups[group].root;
}

AccessReader::AccessReader(const ActionTable &table, const RankView &rank)
    : table(table), rank(rank), shapes(accessShapes()) {
  for (std::size_t index = 0; index < rank.program->lanes.size(); ++index) {
    const Lane &lane = rank.program->lanes[index];
    isGroup[index] = lane.kind == LaneKind::Group;
    isRoot[index] = isGroup[index] && isRootOf(table.plan(), lane.group, rank.rank);
    movesSlot[index] = !isGroup[index] && lane.message.perToken != 0;
    movesPart[index] =
        movesSlot[index] && tokenBytes(table.plan(), lane.message) < rank.boundaryBytes;
  }
  for (std::uint32_t buffer = 0;
       table.plan().mesh.isEngine(rank.rank) && buffer < rank.slots.size(); ++buffer)
    if (rank.layout->buffers[buffer].kind == BufferKind::Weights)
      engineWeights.push_back(buffer);
}

void AccessReader::moveBytes(const Action &action, SlotAccess &access) const {
  const Buffer &moved = rank.layout->buffers[access.buffer];
  const std::uint64_t bytes = fixedBytes(table, rank, action, access.operand);
  const std::uint64_t stride = std::max<std::uint64_t>(moved.stride, 1),
                      count = access.end - access.first;
  const std::uint64_t touched = bytes / stride + (bytes % stride != 0);
  const std::uint64_t whole = bytes < moved.bytes ? 0 : (bytes - moved.bytes) / stride + 1;
  access.end = access.first + static_cast<std::uint32_t>(std::min(touched, count));
  access.whole = access.first + static_cast<std::uint32_t>(std::min(whole, count));
  access.perMicrobatch = false;
}

} // namespace vime::verify
