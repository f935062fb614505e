// Compute: only weight gradients carry an immediate, the bit of the first in a step.
#include "dialects/Plan/ActionRecord.h"

namespace vime::ir {

mlir::LogicalResult verifyCompute(mlir::Operation *op, const ActionRecord &record) {
  if (mlir::failed(verifySignature(op, record)))
    return mlir::failure();
  const bool givesGradients = record.action.opcode == code(plan::Opcode::Backward) ||
                              record.action.opcode == code(plan::Opcode::BackwardWeight);
  const std::uint16_t allowed = givesGradients ? plan::kOverwriteGradients : 0;
  if (record.action.immediate & ~allowed)
    return op->emitOpError("has immediate ")
           << record.action.immediate << ", at most " << allowed << " means something";
  return mlir::success();
}

} // namespace vime::ir
