// Prompts, samples and weights of engines: nothing to choose.
#include "dialects/Plan/ActionRecord.h"

namespace vime::ir {

mlir::LogicalResult verifyRollout(mlir::Operation *op, const ActionRecord &record) {
  if (mlir::failed(verifySignature(op, record)))
    return mlir::failure();
  const bool isPublish = record.action.opcode == code(plan::Opcode::Publish);
  if (record.action.immediate > (isPublish ? plan::kBehindLastRound : 0))
    return op->emitOpError("has immediate ")
           << record.action.immediate << ", which means nothing here";
  return mlir::success();
}

} // namespace vime::ir
