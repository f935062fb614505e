#include "dialects/Job/JobDialect.h"

#include "mlir/IR/Builders.h"

#include "dialects/Job/JobDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Job/JobOps.cpp.inc"

namespace vime::ir {

void JobDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Job/JobOps.cpp.inc"
      >();
}

mlir::Location locationOf(mlir::MLIRContext *context, const JobField &field) {
  if (field.line <= 0 || field.column < 0)
    return mlir::UnknownLoc::get(context);
  return mlir::FileLineColLoc::get(context, field.file, field.line, field.column);
}

} // namespace vime::ir
