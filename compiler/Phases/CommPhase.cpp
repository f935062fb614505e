// Phase `comm`: replaces `sched.pipeline` by `plan.plan`.
#include "compiler/Lowering/LowerCommunication.h"
#include "compiler/Phases/JobIr.h"
#include "compiler/Phases/Passes.h"
#include "compiler/Phases/PhasePass.h"
#include "dialects/Plan/BuildPlan.h"

namespace vime {
namespace {

struct CommPhase : PhasePass<CommPhase> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CommPhase)
  using PhasePass::PhasePass;
  llvm::StringRef getArgument() const final { return "vime-comm"; }
  llvm::StringRef getDescription() const final {
    return "phase comm: programs with transfers, collectives, lanes and the logical clock";
  }

  bool run(mlir::ModuleOp module, Findings &findings) {
    const std::optional<Job> job = jobFromModule(module, findings);
    if (!job)
      return false;
    const auto pipelines = module.getOps<ir::PipelineOp>();
    if (pipelines.empty()) {
      module.emitError("the module holds no schedule; phase order makes one");
      return false;
    }
    ir::PipelineOp pipeline = *pipelines.begin();
    if (!fits(pipeline, *job))
      return false;
    const std::optional<plan::Plan> plan =
        lowerCommunication(*job, pipeline.record().schedule, findings);
    if (!plan)
      return false;
    // One location for all actions; which key of the job an action comes from is in the plan's
    // origins.
    if (!ir::appendPlan(module, *plan, pipeline.getLoc())) {
      module.emitError("the lowering made a program without form");
      return false;
    }
    pipeline.erase();
    return true;
  }

  // A schedule may have been edited by hand.
  static bool fits(ir::PipelineOp pipeline, const Job &job) {
    const auto &[placement, rows] = pipeline.record().schedule;
    if (rows.size() != job.cluster.ranks.value) {
      pipeline.emitError("has rows for ")
          << rows.size() << " ranks, the job has " << job.cluster.ranks.value;
      return false;
    }
    if (pipeline.record().microbatches != job.pipeline.microbatches.value) {
      pipeline.emitError("is of ")
          << pipeline.record().microbatches << " microbatches, the job has "
          << job.pipeline.microbatches.value;
      return false;
    }
    if (placement.size() > job.model(job.actor.model.value)->config.layers) {
      pipeline.emitError("has more stages than the model has layers");
      return false;
    }
    return true;
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createCommPhase(Findings *report) {
  return std::make_unique<CommPhase>(report);
}

} // namespace vime
