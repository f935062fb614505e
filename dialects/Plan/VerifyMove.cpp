// Moves: from one buffer to another one, or what gives one back.
#include "dialects/Plan/ActionRecord.h"

namespace vime::ir {

mlir::LogicalResult verifyMove(mlir::Operation *op, const ActionRecord &record) {
  if (mlir::failed(verifySignature(op, record)))
    return mlir::failure();
  if (record.action.immediate != 0)
    return op->emitOpError("has immediate ")
           << record.action.immediate << ", which means nothing here";
  const auto uses = usesOf(record);
  if (uses.size() > 1 && uses[0].buffer == uses[1].buffer)
    return op->emitOpError("moves buffer ") << uses[0].buffer << " onto itself";
  return mlir::success();
}

} // namespace vime::ir
