// What the table of opcodes says about every action: its name, operands, stage, microbatch.
#include "dialects/Plan/ActionRecord.h"

namespace vime::ir {
namespace {

constexpr unsigned kKnownFlags = 2 * plan::kLastUse - 1;

// Phase `memory` gives operands; before it there are none.
mlir::LogicalResult verifyUses(mlir::Operation *op, const ActionRecord &record,
                               const plan::Signature &signature) {
  const auto uses = usesOf(record);
  if (record.action.operands != 0 || record.action.operandCount != uses.size())
    return op->emitOpError("states its operands twice: they are what it uses");
  if (uses.empty())
    return mlir::success();
  if (uses.size() != signature.operands.size())
    return op->emitOpError("uses ")
           << uses.size() << " buffers, its signature has " << signature.operands.size();
  for (std::size_t index = 0; index < uses.size(); ++index) {
    if (uses[index].buffer < -1)
      return op->emitOpError("uses buffer ") << uses[index].buffer;
    if (uses[index].buffer == -1 && !signature.operands[index].optional)
      return op->emitOpError("lacks its `")
             << llvm::StringRef(signature.operands[index].name) << "`";
  }
  return mlir::success();
}

} // namespace

mlir::LogicalResult verifySignature(mlir::Operation *op, const ActionRecord &record) {
  const plan::Action &action = record.action;
  const plan::Signature *signature = plan::findSignature(action.opcode);
  if (!signature || llvm::StringRef(signature->name) != op->getName().stripDialect())
    return op->emitOpError("has opcode ") << action.opcode << ", which is not its own";
  const bool transfers =
      signature->family == plan::Family::Transfer; // their stage is the one that makes the message
  if (!signature->perStage && !transfers && action.stage != 0)
    return op->emitOpError("names a stage, but belongs to none");
  if (!signature->perMicrobatch && action.microbatch != 0)
    return op->emitOpError("names a microbatch, but belongs to none");
  if (action.flags & ~kKnownFlags)
    return op->emitOpError("has unknown flags ") << (action.flags & ~kKnownFlags);
  if (!transfers && (action.flags & (plan::kGroupBegin | plan::kGroupEnd)))
    return op->emitOpError("is no transfer, so it can begin or end no group of them");
  return verifyUses(op, record, *signature);
}

} // namespace vime::ir
