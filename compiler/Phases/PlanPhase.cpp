// Phase `plan`: settings, limits, connect rounds, origins. Actions stay as they are and are not
// even read.
#include "compiler/Phases/JobIr.h"
#include "compiler/Phases/Passes.h"
#include "compiler/Phases/PhasePass.h"
#include "dialects/Plan/FlattenPlan.h"
#include "dialects/Plan/UpdatePlan.h"
#include "runtime/Plan/Mesh.h"

namespace vime {
namespace {

struct PlanPhase : PhasePass<PlanPhase> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanPhase)
  PlanPhase(const TextFacts &facts, const std::string &compiler, Findings *report)
      : PhasePass(report) {
    textBytes = facts.bytes;
    textHashLow = facts.hash[0];
    textHashHigh = facts.hash[1];
    heldOutBytes = facts.heldOutBytes;
    heldOutHashLow = facts.heldOutHash[0];
    heldOutHashHigh = facts.heldOutHash[1];
    if (facts.round.prompts.bytes != 0) { // a job has a text or prompts, never both
      const auto &[prompts, heldOut] = facts.round;
      textBytes = prompts.bytes;
      textHashLow = prompts.hash[0];
      textHashHigh = prompts.hash[1];
      heldOutBytes = heldOut.bytes;
      heldOutHashLow = heldOut.hash[0];
      heldOutHashHigh = heldOut.hash[1];
    }
    moduleHashLow = facts.moduleHash[0];
    moduleHashHigh = facts.moduleHash[1];
    version = compiler;
  }
  PlanPhase(const PlanPhase &other) : PhasePass(other) {} // MLIR copies the options
  llvm::StringRef getArgument() const final { return "vime-plan"; }
  llvm::StringRef getDescription() const final {
    return "phase plan: what the runtime reads beside programs";
  }

  bool run(mlir::ModuleOp module, Findings &findings) {
    const std::optional<Job> job = jobFromModule(module, findings);
    if (!job)
      return false;
    ir::PlanOp op = ir::findPlan(module);
    if (!op)
      return refuse(module, "the module holds no programs; phases comm and memory make them");
    plan::Plan plan = ir::planFromOp(op, ir::Flatten::WithoutActions);
    if (plan.layouts.empty())
      return refuse(op, "the plan has no layouts; phase memory makes them");
    if (plan.programOf.size() != plan::representatives(plan.mesh))
      return refuse(op, "the plan has not a program for each rank");
    finishPlan(plan, *job,
               {.bytes = textBytes,
                .hash = {textHashLow, textHashHigh},
                .heldOutBytes = heldOutBytes,
                .heldOutHash = {heldOutHashLow, heldOutHashHigh},
                .moduleHash = {moduleHashLow, moduleHashHigh},
                .round = {.prompts = {textBytes, {textHashLow, textHashHigh}},
                          .heldOut = {heldOutBytes, {heldOutHashLow, heldOutHashHigh}}}},
               version);
    plan.programs.clear();
    return ir::updatePlan(op, plan);
  }

  Option<std::uint64_t> textBytes{*this, "text-bytes",
                                  llvm::cl::desc("bytes of the text, or of the prompts"),
                                  llvm::cl::init(0)};
  Option<std::uint64_t> textHashLow{*this, "text-hash-low", llvm::cl::desc("its hash"),
                                    llvm::cl::init(0)};
  Option<std::uint64_t> textHashHigh{*this, "text-hash-high", llvm::cl::desc("its hash"),
                                     llvm::cl::init(0)};
  Option<std::uint64_t> heldOutBytes{
      *this, "held-out-bytes", llvm::cl::desc("bytes of the held-out text"), llvm::cl::init(0)};
  Option<std::uint64_t> heldOutHashLow{*this, "held-out-hash-low", llvm::cl::desc("its hash"),
                                       llvm::cl::init(0)};
  Option<std::uint64_t> heldOutHashHigh{*this, "held-out-hash-high", llvm::cl::desc("its hash"),
                                        llvm::cl::init(0)};
  Option<std::uint64_t> moduleHashLow{
      *this, "module-hash-low", llvm::cl::desc("hash of the model's module"), llvm::cl::init(0)};
  Option<std::uint64_t> moduleHashHigh{*this, "module-hash-high", llvm::cl::desc("its hash"),
                                       llvm::cl::init(0)};
  Option<std::string> version{*this, "compiler", llvm::cl::desc("version of the compiler")};
};

} // namespace

std::unique_ptr<mlir::Pass> createPlanPhase(const TextFacts &text, const std::string &version,
                                            Findings *report) {
  return std::make_unique<PlanPhase>(text, version, report);
}

} // namespace vime
