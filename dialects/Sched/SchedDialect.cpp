#include "dialects/Sched/SchedDialect.h"

#include "mlir/IR/Builders.h"

#include "dialects/Sched/SchedDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Sched/SchedOps.cpp.inc"

void vime::ir::SchedDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Sched/SchedOps.cpp.inc"
      >();
}
