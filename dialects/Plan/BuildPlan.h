// BuildPlan: from a Plan to its ops. The only place where ops of actions are made, because it is
// done by the million.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "dialects/Plan/PlanDialect.h"
#include "mlir/IR/OwningOpRef.h"

namespace vime::ir {

/// Appends actions to blocks, all with one location.
class ActionAppender {
public:
  explicit ActionAppender(mlir::Location location);
  /// The opcode must be a known one.
  void append(mlir::Block &block, const ActionRecord &record);

private:
  mlir::Location location;
  mlir::DictionaryAttr noAttributes;
  std::vector<mlir::OperationName> names; // in the order of plan::signatures()
  std::vector<std::uint8_t> nameOf;       // by opcode
};

/// Appends the plan to the module. Programs must keep the form of Plan.h: loops ascend and are
/// disjoint, opcodes are known, operand lists lie in their pool; null otherwise. Everything has the
/// location given.
PlanOp appendPlan(mlir::ModuleOp module, const plan::Plan &plan, mlir::Location location);

/// A module with nothing but the plan, or null.
mlir::OwningOpRef<mlir::ModuleOp> moduleFromPlan(mlir::MLIRContext *context,
                                                 const plan::Plan &plan);

/// Makes the ops say what `plan` says. Ops of actions are kept and changed in place where the
/// program still has as many. Without programs in `plan`, those in the IR stay as they are.
bool updatePlan(PlanOp op, const plan::Plan &plan);

} // namespace vime::ir
