// BuildPlan: from a Plan to its ops.
#pragma once

#include "dialects/Plan/PlanDialect.h"
#include "mlir/IR/OwningOpRef.h"

namespace vime::ir {

/// Appends the plan to the module. Programs must keep the form of Plan.h: loops form a
/// tree, opcodes are known, operand lists lie in their pool; null otherwise. Everything has the
/// location given.
PlanOp appendPlan(mlir::ModuleOp module, const plan::Plan &plan, mlir::Location location);

/// A module with nothing but the plan, or null.
mlir::OwningOpRef<mlir::ModuleOp> moduleFromPlan(mlir::MLIRContext *context,
                                                 const plan::Plan &plan);

} // namespace vime::ir
