// compileJob: a job through all phases, one pass each, with dumps and times between.
#include "compiler/Phases/Phases.h"

#include <chrono>
#include <filesystem>

#include "compiler/Analysis/Predict.h"
#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Lowering/StepFamily.h"
#include "compiler/Machine/MachineCosts.h"
#include "compiler/Phases/JobIr.h"
#include "compiler/Phases/LeaveToExit.h"
#include "compiler/Phases/Passes.h"
#include "compiler/Phases/PhasePass.h"
#include "compiler/Verify/Verify.h"
#include "dialects/Plan/FlattenPlan.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/Base/AtomicFile.h"
#include "llvm/Support/raw_ostream.h"

namespace vime {
namespace {

constexpr std::string_view kHelp = "\nhelp: "; // before the remedy in the message of a status

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, mlir::OpPrintingFlags().assumeVerified());
  stream << '\n';
  return text;
}

/// A plan knows its limit, the job who set it and what would need less.
void leadToLimit(const Job &job, Findings &findings) {
  const bool recomputes = job.memory.recompute.value == "layer";
  for (Finding &finding : findings.all())
    if (finding.rule == Rule::M1 && finding.number == 4 && finding.span.line == 0)
      finding.at(job.pipeline.memoryLimit.span)
          .withHelp("other orders keep fewer microbatches alive, as `vimec schedules` shows; "
                    "smaller microbatches and more ranks need less" +
                    std::string(recomputes ? "" : "; `memory: {recompute: layer}` may help too"));
}

class Compilation {
public:
  Compilation(const Job &job, const CompileOptions &options, Compiled &compiled, Findings &findings)
      : job(job), options(options), compiled(compiled), findings(findings),
        context(*new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED)),
        internalErrors(&context, [this](mlir::Diagnostic &diagnostic) { note(diagnostic); }) {
    leaveToExit(&context);
    context.loadDialect<ir::JobDialect, ir::PlanDialect, ir::SchedDialect>();
  }

  bool run() {
    if (!makeDumpDirectory())
      return false;
    // Context and module are left to the end of the process: freeing a million ops one by one takes
    // longer than the phases that made them.
    module = moduleFromJob(&context, job).release();
    leaveToExit(module.getOperation());
    if (!finished("job") || !phase("order", createOrderPhase(&findings)) ||
        !phase("comm", createCommPhase(stepFamily(job, options.text.samples), &findings)) ||
        !phase("memory", createMemoryPhase(&findings)) ||
        !phase("plan", createPlanPhase(options.text, options.version, &findings)))
      return stopped;
    return judge();
  }

private:
  bool phase(std::string_view name, std::unique_ptr<mlir::Pass> pass) {
    mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
    passes.enableVerifier(options.verifyEach);
    passes.addPass(std::move(pass));
    if (mlir::failed(passes.run(module)))
      return fail(name);
    return finished(name);
  }

  bool judge() {
    compiled.plan = ir::planFromModule(module);
    lap("flatten");
    verifyPlan(*compiled.plan, findings, job.file);
    lap("verify");
    if (!findings.any())
      return expect();
    leadToLimit(job, findings);
    compiled.plan.reset();
    return false;
  }

  /// What is known of how long its tasks take stands in the plan, for who watches it run.
  bool expect() {
    plan::Plan &plan = *compiled.plan;
    if (options.machine) {
      const StatusOr<MachineCosts> costs = costsOn(*options.machine, plan);
      if (!costs.ok()) {
        const std::string &why = costs.status().message();
        const std::size_t help = std::min(why.find(kHelp), why.size());
        findings.error(Rule::J, vime::number(JobCode::MachineUnreadable), why.substr(0, help))
            .at(job.cluster.machine.span)
            .withHelp(why.substr(std::min(help + kHelp.size(), why.size())));
        compiled.plan.reset();
        return false;
      }
      predict(plan, costs->durations, "on machine " + options.machine->name);
    } else if (plan.models[0].config.family == ModelFamily::Sleep) {
      predict(plan, declaredDurations(plan), "as long as stages sleep");
    }
    lap("predict");
    return true;
  }

  bool fail(std::string_view name) {
    if (!findings.any() && compiled.internalError.empty())
      compiled.internalError = "phase `" + std::string(name) + "` failed without a reason";
    return false;
  }

  // True to go on.
  bool finished(std::string_view name) {
    lap(name);
    ++number;
    if (!dump(name))
      return false;
    if (options.stopAfter != name)
      return true;
    compiled.stoppedText = textOf(module);
    stopped = true;
    return false;
  }

  bool makeDumpDirectory() {
    std::error_code error;
    if (!options.dumpDirectory.empty())
      std::filesystem::create_directories(options.dumpDirectory, error);
    if (error)
      compiled.fileError =
          "cannot make directory `" + options.dumpDirectory + "`: " + error.message();
    return !error;
  }

  bool dump(std::string_view name) {
    if (options.dumpDirectory.empty())
      return true;
    const std::string file = std::to_string(number) + "-" + std::string(name) + ".mlir";
    const auto path = std::filesystem::path(options.dumpDirectory) / file;
    compiled.fileError = writeFileAtomically(path.string(), textOf(module)).message();
    lap("dump " + file);
    return compiled.fileError.empty();
  }

  void lap(std::string_view part) {
    const Clock::time_point now = Clock::now();
    compiled.times.push_back(
        {std::string(part), std::chrono::duration<double>(now - last).count()});
    last = now;
  }

  // What MLIR itself or a phase says that cannot be the job's fault.
  void note(mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
        compiled.internalError.empty())
      compiled.internalError = diagnostic.str();
  }

  using Clock = std::chrono::steady_clock;
  const Job &job;
  const CompileOptions &options;
  Compiled &compiled;
  Findings &findings;
  mlir::MLIRContext &context; // never freed
  mlir::ScopedDiagnosticHandler internalErrors;
  mlir::ModuleOp module;
  int number = 0; // phases done
  bool stopped = false;
  Clock::time_point last = Clock::now();
};

} // namespace

bool compileJob(const Job &job, const CompileOptions &options, Compiled &compiled,
                Findings &findings) {
  return Compilation(job, options, compiled, findings).run();
}

} // namespace vime
