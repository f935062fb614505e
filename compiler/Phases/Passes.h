// The phases as MLIR passes over a module, in order. `report` gets what they find; null: MLIR
// diagnostics.
#pragma once

#include <memory>
#include <string>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Lowering/FinishPlan.h"
#include "mlir/Pass/Pass.h"

namespace vime {

/// --vime-order: adds the schedule that the job names.
std::unique_ptr<mlir::Pass> createOrderPhase(Findings *report = nullptr);
/// --vime-comm: the schedule becomes programs with transfers, collectives, lanes and the logical
/// clock.
/// `family`: the numbers of microbatches that a step can have (StepFamily.h); empty: the job's.
std::unique_ptr<mlir::Pass> createCommPhase(const std::vector<std::uint32_t> &family = {},
                                            Findings *report = nullptr);
/// --vime-memory: actions get operands and waits, ranks get layouts.
std::unique_ptr<mlir::Pass> createMemoryPhase(Findings *report = nullptr);
/// --vime-plan: adds what the runtime reads beside programs and layouts.
std::unique_ptr<mlir::Pass> createPlanPhase(const TextFacts &text = {},
                                            const std::string &version = {},
                                            Findings *report = nullptr);
/// --verify-plan: every verifier judges the plan as it stands.
std::unique_ptr<mlir::Pass> createVerifyPlan(Findings *report = nullptr);

/// Makes all of them known to a command line.
void registerPhases();

} // namespace vime
