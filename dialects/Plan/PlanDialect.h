// The `plan` dialect: see Plan.td.
#pragma once

#include "dialects/Plan/PlanRecords.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/RegionKindInterface.h"

#include "dialects/Plan/PlanDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"
