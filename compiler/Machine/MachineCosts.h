// MachineCosts: what the actions of a plan cost on a machine, each with where that comes from.
//
//   StatusOr<MachineCosts> costs = costsOn(machine, plan);
//   simulate(table, costs->durations);
//   costs->rows.front().origin      // "989 TFLOP/s × 0.45"
//
// What was measured goes first: of the same model and microbatch as it is, of other sizes in the
// proportion of the work. All else is a roofline: the longer of operations over the share of the
// peak and of bytes over the share of the bandwidth, for each part of a stage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/Analysis/Durations.h"
#include "compiler/Analysis/EngineBatches.h"
#include "compiler/Machine/Machine.h"
#include "compiler/Machine/Work.h"
#include "runtime/Base/Status.h"

namespace vime {

/// One cost: of an action of some stages, of a rank, of a link.
struct CostRow {
  std::string of;   // "stage 0", "stages 1-6", "each rank", "link inside a node"
  std::string what; // "forward", "latency"
  std::int64_t nanoseconds = 0;
  Work work; // that it stands for; nothing where it was not looked at
  std::string origin;
};

struct MachineCosts {
  Durations durations;
  std::vector<CostRow> rows;
  std::vector<std::string> figures; // that were used: "device.share 0.45: assumed"
  EngineCosts engine;               // of a plan with rounds
  std::vector<std::string> notes;   // where the plan does not fit the machine
};

/// `InvalidInput` if the machine does not say what the plan needs, with what to do about it.
StatusOr<MachineCosts> costsOn(const Machine &machine, const plan::Plan &plan);

} // namespace vime
