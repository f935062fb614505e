// Phase `order`: reads the job, adds `sched.pipeline`.
#include "compiler/Frontend/Microbatch.h"
#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Phases/JobIr.h"
#include "compiler/Phases/Passes.h"
#include "compiler/Phases/PhasePass.h"
#include "mlir/IR/Builders.h"

namespace vime {
namespace {

struct OrderPhase : PhasePass<OrderPhase> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OrderPhase)
  using PhasePass::PhasePass;
  llvm::StringRef getArgument() const final { return "vime-order"; }
  llvm::StringRef getDescription() const final {
    return "phase order: the schedule that the job names";
  }

  bool run(mlir::ModuleOp module, Findings &findings) {
    const std::optional<Job> job = jobFromModule(module, findings);
    if (!job)
      return false;
    std::optional<Schedule> schedule = buildOrder(*job, findings);
    if (!schedule)
      return false;
    auto builder = mlir::OpBuilder::atBlockEnd(module.getBody());
    builder.create<ir::PipelineOp>(locationOfField(module, "pipeline.schedule"),
                                   ir::PipelineRecord{.name = job->pipeline.schedule.value,
                                                      .microbatches = stepMicrobatches(*job),
                                                      .schedule = std::move(*schedule)});
    return true;
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createOrderPhase(Findings *report) {
  return std::make_unique<OrderPhase>(report);
}

} // namespace vime
