// The `sched` dialect: see Sched.td.
#pragma once

#include "dialects/Sched/PipelineRecord.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"

#include "dialects/Sched/SchedDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/Sched/SchedOps.h.inc"
