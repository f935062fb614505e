// FlattenPlan: from ops to a Plan, the flat view that algorithms, verifiers and the writer read.
#pragma once

#include <optional>

#include "dialects/Plan/PlanDialect.h"

namespace vime::ir {

enum class Flatten : std::uint8_t { Everything, WithoutActions };

/// Everything the ops say. A program's operand pool has each list of buffers once, in order of
/// first use. WithoutActions leaves out actions, pools and loops.
plan::Plan planFromOp(PlanOp op, Flatten what = Flatten::Everything);

/// The module's plan, or nothing if it has none.
PlanOp findPlan(mlir::ModuleOp module);
std::optional<plan::Plan> planFromModule(mlir::ModuleOp module);

} // namespace vime::ir
