// Transfers: the immediate is the kind of buffer that the message fills.
#include "dialects/Plan/ActionRecord.h"
#include "runtime/Plan/Names.h"

namespace vime::ir {

mlir::LogicalResult verifyTransfer(mlir::Operation *op, const ActionRecord &record) {
  if (mlir::failed(verifySignature(op, record)))
    return mlir::failure();
  if (record.action.immediate >= plan::namesOf<plan::BufferKind>().size())
    return op->emitOpError("has immediate ")
           << record.action.immediate << ", which is no kind of buffer";
  return mlir::success();
}

} // namespace vime::ir
