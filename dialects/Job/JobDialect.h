// The `job` dialect: see Job.td.
#pragma once

#include "dialects/Job/JobRecords.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/RegionKindInterface.h"

#include "dialects/Job/JobDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/Job/JobOps.h.inc"
