// Phase `comm`: replaces `sched.pipeline` by `plan.plan`.
#include "compiler/Frontend/Microbatch.h"
#include "compiler/Lowering/ReceiveSlotsOfJob.h"
#include "compiler/Phases/JobIr.h"
#include "compiler/Phases/Passes.h"
#include "compiler/Phases/PhasePass.h"
#include "dialects/Plan/BuildPlan.h"
#include "schedules/Placement.h"

namespace vime {
namespace {

struct CommPhase : PhasePass<CommPhase> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CommPhase)
  CommPhase(const std::vector<std::uint32_t> &microbatches, Findings *report) : PhasePass(report) {
    family = microbatches;
  }
  CommPhase(const CommPhase &other) : PhasePass(other) {} // MLIR copies the options
  llvm::StringRef getArgument() const final { return "vime-comm"; }
  llvm::StringRef getDescription() const final {
    return "phase comm: programs with transfers, collectives, lanes and the logical clock";
  }

  bool run(mlir::ModuleOp module, Findings &findings) {
    std::optional<Job> job = jobFromModule(module, findings);
    if (!job)
      return false;
    const auto pipelines = module.getOps<ir::PipelineOp>();
    if (pipelines.empty())
      return refuse(module, "the module holds no schedule; phase order makes one");
    ir::PipelineOp pipeline = *pipelines.begin();
    if (!fits(pipeline, *job))
      return false;
    const std::optional<plan::Plan> plan =
        lowerWithSlots(*job, pipeline.record().schedule, familyOf(*job), findings);
    if (!plan)
      return false;
    replaceJob(module, *job); // which says now how many slots channels have
    // One location for all actions; the key of the job that an action comes from is in the plan's
    // origins.
    if (!ir::appendPlan(module, *plan, pipeline.getLoc()))
      return refuse(module, "the lowering made a program without form");
    pipeline.erase();
    return true;
  }

  std::vector<std::uint32_t> familyOf(const Job &job) const {
    if (family.empty())
      return {stepMicrobatches(job)};
    return {family.begin(), family.end()};
  }

  // A schedule may have been edited by hand.
  static bool fits(ir::PipelineOp pipeline, const Job &job) {
    const ir::PipelineRecord &record = pipeline.record();
    auto differs = [&](const char *what, std::size_t here, std::size_t inJob) {
      return refuse(pipeline, "the schedule is of " + llvm::Twine(here) + what + ", the job of " +
                                  llvm::Twine(inJob));
    };
    const std::size_t ranks = job.actor.pipeline.value;
    const std::size_t microbatches = stepMicrobatches(job);
    const std::size_t layers = job.model(job.actor.model.value)->config.layers;
    if (record.schedule.rows.size() != ranks)
      return differs(" ranks", record.schedule.rows.size(), ranks);
    if (record.microbatches != microbatches)
      return differs(" microbatches", record.microbatches, microbatches);
    if (static_cast<std::uint32_t>(record.schedule.slices) != slicesOf(job))
      return differs(" slices", static_cast<std::size_t>(record.schedule.slices), slicesOf(job));
    if (static_cast<std::size_t>(depthOf(record.schedule)) > layers)
      return refuse(pipeline, "the schedule has more stages than the model has layers");
    return true;
  }

  ListOption<std::uint32_t> family{
      *this, "microbatches",
      llvm::cl::desc("what a step can have, ascending; the job's if left out")};
};

} // namespace

std::unique_ptr<mlir::Pass> createCommPhase(const std::vector<std::uint32_t> &family,
                                            Findings *report) {
  return std::make_unique<CommPhase>(family, report);
}

} // namespace vime
