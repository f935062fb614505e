// Collectives: a stream of one operation has nothing left to say with a call.
#include "dialects/Plan/ActionRecord.h"

namespace vime::ir {

mlir::LogicalResult verifyCollective(mlir::Operation *op, const ActionRecord &record) {
  if (mlir::failed(verifySignature(op, record)))
    return mlir::failure();
  if (record.action.immediate != 0 &&
      record.action.opcode != code(plan::Opcode::BroadcastWeights)) // which part
    return op->emitOpError("has immediate ")
           << record.action.immediate << ", which means nothing here";
  return mlir::success();
}

} // namespace vime::ir
