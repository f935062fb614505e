// --verify-plan: flattens the plan and has it judged.
#include "compiler/Phases/JobIr.h"
#include "compiler/Phases/Passes.h"
#include "compiler/Phases/PhasePass.h"
#include "compiler/Verify/Verify.h"
#include "dialects/Plan/FlattenPlan.h"

namespace vime {
namespace {

struct VerifyPlanPass : PhasePass<VerifyPlanPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyPlanPass)
  using PhasePass::PhasePass;
  llvm::StringRef getArgument() const final { return "verify-plan"; }
  llvm::StringRef getDescription() const final { return "every verifier judges the plan"; }

  bool run(mlir::ModuleOp module, Findings &findings) {
    const std::optional<plan::Plan> plan = ir::planFromModule(module);
    if (!plan)
      return refuse(module, "the module holds no plan");
    verifyPlan(*plan, findings, jobFileOf(module));
    markAllAnalysesPreserved();
    return true;
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createVerifyPlan(Findings *report) {
  return std::make_unique<VerifyPlanPass>(report);
}

} // namespace vime
