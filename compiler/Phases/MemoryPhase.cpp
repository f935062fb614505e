// Phase `memory`: layouts, operands and waits. Ops of actions are changed in place.
#include <algorithm>

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Lowering/LowerCommunication.h"
#include "compiler/Lowering/PlanMemory.h"
#include "compiler/Lowering/ReceiveSlotsOfJob.h"
#include "compiler/Lowering/StepFamily.h"
#include "compiler/Lowering/TrainingGroups.h"
#include "compiler/Phases/JobIr.h"
#include "compiler/Phases/Passes.h"
#include "compiler/Phases/PhasePass.h"
#include "dialects/Plan/FlattenPlan.h"
#include "dialects/Plan/UpdatePlan.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

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
    if (!op)
      return refuse(module, "the module holds no programs; phase comm makes them");
    plan::Plan plan = ir::planFromOp(op);
    if (!plan.layouts.empty())
      return refuse(op, "the plan has layouts already");
    if (plan.data.slices != slicesOf(*job))
      return refuse(op, "the plan has other slices of samples than the job");
    if (!isOfMesh(plan, *job))
      return refuse(op, "the plan has not the mesh, the models and the groups of the job");
    if (!placesEveryStageOnce(plan))
      return refuse(op, "the plan has not each stage on one rank of a replica");
    if (!hasMicrobatchesOfJob(plan, *job))
      return refuse(op, "the plan has an action of a microbatch that the job does not have");
    if (!planMemory(plan, capsOf(*job), mostMicrobatches(*job), receiveSlotsOf(*job)))
      return refuse(op, "an action needs more waits than it has room for");
    return ir::updatePlan(op, plan) || refuse(op, "planning memory left a program without form");
  }

  // Programs may have been edited by hand.
  static bool isOfMesh(const plan::Plan &plan, const Job &job) {
    const plan::Mesh mesh{.pipeline = job.actor.pipeline.value,
                          .data = job.actor.data.value,
                          .engines = job.rolloutRole.ranks.value};
    const std::size_t models = job.reference.model.value.empty() ? 1 : 2;
    const std::size_t groups = mesh.data > 1 ? kAllStatsGroup + 1 : kStatsGroup + 1;
    return plan.mesh == mesh && plan.programOf.size() == plan::representatives(mesh) &&
           plan.models.size() == models && plan.groups.size() >= groups;
  }
  static bool placesEveryStageOnce(const plan::Plan &plan) {
    const std::size_t trainers = plan.programOf.size() - plan.mesh.engines;
    const std::size_t stages = plan.models[0].stages.size(); // of each model
    for (std::uint32_t first = 0; first < trainers; first += plan.mesh.pipeline) {
      std::vector<int> holders(stages * plan.models.size());
      for (std::uint32_t rank = first; rank < first + plan.mesh.pipeline; ++rank)
        for (const auto &[model, stage] : plan::programOf(plan, rank)->stages)
          ++holders[model * stages + stage]; // in range, as MLIR's verifier has seen
      if (!std::all_of(holders.begin(), holders.end(), [](int ranks) { return ranks == 1; }))
        return false;
    }
    return true;
  }
  static bool hasMicrobatchesOfJob(const plan::Plan &plan, const Job &job) {
    for (const plan::Program &program : plan.programs)
      for (const plan::Action &action : program.actions)
        if (action.microbatch >= mostMicrobatches(job))
          return false;
    return true;
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createMemoryPhase(Findings *report) {
  return std::make_unique<MemoryPhase>(report);
}

} // namespace vime
