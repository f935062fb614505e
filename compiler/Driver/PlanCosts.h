// PlanCosts: what the actions of a plan are taken to cost, by what the command line says, or by
// what is known of the plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/Analysis/Durations.h"
#include "compiler/Analysis/Simulate.h"
#include "compiler/Analysis/TracedRounds.h"
#include "compiler/Driver/Costs.h"
#include "compiler/Driver/Output.h"
#include "compiler/Machine/MachineCosts.h"
#include "runtime/Base/Status.h"

namespace vime {

struct PlanCosts {
  Durations durations;
  std::string origin;   // "of each stage F 1, I 1, W 1, a transfer 0; nothing else takes time"
  std::string unit;     // "units", "ms"
  double perUnit = 1e6; // nanoseconds
  // Of a machine: each cost with its origin, the figures that were used, where it is too small.
  std::vector<CostRow> rows;
  EngineCosts engine; // of a plan with rounds on a machine
  std::vector<std::string> figures, notes;

  /// A time as a number of units with at most three places.
  std::string show(std::int64_t nanoseconds) const;
};

/// What a choice says, read once for all plans that it is applied to.
struct CostBasis {
  std::string costs; // as in CostChoice
  std::optional<Machine> machine;
};

/// Nothing if the machine is not there or makes no sense; then that has been reported and `code` is
/// the exit code.
std::optional<CostBasis> readCostBasis(const CostChoice &choice, const OutputOptions &output,
                                       int &code);

/// The profile of that name, or the file; likewise.
std::optional<Machine> findMachine(const std::string &nameOrFile, const OutputOptions &output,
                                   int &code);

/// On the machine; without one as `costs` says; else as long as stages sleep, of others a unit
/// each.
StatusOr<PlanCosts> costsOf(const plan::Plan &plan, const CostBasis &basis);

/// The rows as a table, figures and notes below; and each row as an object.
std::string costTable(const PlanCosts &costs);
std::string costRowsJson(const PlanCosts &costs);

/// Why a machine cannot be given for the table of an order, and what can.
inline constexpr const char *kMachineOfTable = "a machine says nothing of the tasks of a table",
                            *kCostsOfTable = "give their costs: `--costs 10,12,8`";

/// A step of a run beside what was expected of it.
struct Measured {
  PlanCosts costs; // of the run's tasks and messages
  Simulated run;
  std::uint32_t step = 0;
  // Of a plan with rounds: all of them that were traced, and microbatches of steps that begin none.
  std::vector<TracedRound> rounds;
  std::uint32_t laterMicrobatches = 0;
};

/// What the steps traced in a folder (`vime-exec --trace`) did, most of them: those that begin a
/// round, of a plan with rounds. Without a folder the steady step.
StatusOr<verify::Choice> choiceIn(const std::string &folder, const plan::Plan &plan);

/// Of the traces in a folder; the table is of that choice. The plan is proved.
StatusOr<Measured> measuredIn(const std::string &folder, const plan::Plan &plan,
                              const verify::ActionTable &table);

} // namespace vime
