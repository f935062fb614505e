#include "dialects/Plan/BuildPlan.h"

#include "dialects/Plan/PlanBuilder.h"

namespace vime::ir {

PlanOp appendPlan(mlir::ModuleOp module, const plan::Plan &plan, mlir::Location location) {
  if (!isWellFormed(plan))
    return {};
  auto builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  auto op =
      builder.create<PlanOp>(location, PlanHead{plan.schedule, plan.compiler, plan.gradientOrder});
  PlanBuilder content(mlir::OpBuilder::atBlockEnd(&op.block()), location);
  content.tables(plan);
  for (std::size_t index = 0; index < plan.programs.size(); ++index)
    content.program(plan, index);
  return op;
}

mlir::OwningOpRef<mlir::ModuleOp> moduleFromPlan(mlir::MLIRContext *context,
                                                 const plan::Plan &plan) {
  const mlir::Location location = mlir::UnknownLoc::get(context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location);
  return appendPlan(*module, plan, location) ? std::move(module) : nullptr;
}

} // namespace vime::ir
