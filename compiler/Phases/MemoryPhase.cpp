// Phase `memory`: layouts, operands and waits. Ops of actions are changed in place.
#include "compiler/Lowering/LowerCommunication.h"
#include "compiler/Lowering/PlanMemory.h"
#include "compiler/Phases/JobIr.h"
#include "compiler/Phases/Passes.h"
#include "compiler/Phases/PhasePass.h"
#include "dialects/Plan/BuildPlan.h"
#include "dialects/Plan/FlattenPlan.h"

namespace vime {
namespace {

struct MemoryPhase : PhasePass<MemoryPhase> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MemoryPhase)
  using PhasePass::PhasePass;
  llvm::StringRef getArgument() const final { return "vime-memory"; }
  llvm::StringRef getDescription() const final {
    return "phase memory: buffers, operands, waits, arenas";
  }

  bool run(mlir::ModuleOp module, Findings &findings) {
    const std::optional<Job> job = jobFromModule(module, findings);
    if (!job)
      return false;
    ir::PlanOp op = ir::findPlan(module);
    if (!op) {
      module.emitError("the module holds no programs; phase comm makes them");
      return false;
    }
    plan::Plan plan = ir::planFromOp(op);
    if (!plan.layouts.empty()) {
      op.emitError("has layouts already");
      return false;
    }
    if (!planMemory(plan, capsOf(*job), job->pipeline.microbatches.value)) {
      op.emitError("an action needs more waits than it has room for");
      return false;
    }
    if (!ir::updatePlan(op, plan)) {
      op.emitError("planning memory left a program without form");
      return false;
    }
    return true;
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createMemoryPhase(Findings *report) {
  return std::make_unique<MemoryPhase>(report);
}

} // namespace vime
