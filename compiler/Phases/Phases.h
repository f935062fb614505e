// Phases: from a job to its plan, by way of the IR. What stands between two phases can be printed,
// edited and judged.
//
//   Compiled compiled;
//   Findings findings;
//   if (!compileJob(*job, {.text = facts, .version = compilerVersion()}, compiled, findings))
//     return compiled.internalError.empty() ? report(findings) :
//     reportInternal(compiled.internalError);
//   write(*compiled.plan);
//
// MLIR is not seen from here; who calls this is a plain translation unit.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Frontend/Job.h"
#include "compiler/Lowering/FinishPlan.h"
#include "compiler/Machine/Machine.h"
#include "runtime/Plan/Plan.h"

namespace vime {

struct Phase {
  std::string_view name;
  std::string_view sentence; // what is true afterwards
};

/// job, order, comm, memory, plan.
std::span<const Phase> phases();
/// Null if there is no phase of that name.
const Phase *findPhase(std::string_view name);

struct CompileOptions {
  std::string stopAfter;     // a phase; empty: go on to the plan
  std::string dumpDirectory; // gets `1-job.mlir`, `2-order.mlir`, …; empty: no dumps
  TextFacts text;            // of the job's text, for phase `plan`
  std::string version;       // of the compiler, for phase `plan`
  /// What the plan expects is what a step takes there; none: only what stages that sleep say.
  std::optional<Machine> machine;
  bool verifyEach = false; // MLIR's own verifier after every phase
};

struct PartTime {
  std::string part; // `comm`, `verify`
  double seconds = 0;
};

struct Compiled {
  std::optional<plan::Plan> plan; // judged by every verifier; absent when stopped early
  std::string stoppedText;        // the IR after the phase that was to be the last
  std::string internalError;      // why the compiler itself failed; no fault of the job's
  std::string fileError;          // why a dump could not be written
  std::vector<PartTime> times;
};

/// False if the job leads to no plan: then the reasons are in `findings`, or in `internalError` or
/// `fileError`. Memory of the IR is not given back: a compiler ends after it.
bool compileJob(const Job &job, const CompileOptions &options, Compiled &compiled,
                Findings &findings);

} // namespace vime
