// calibrated: a machine as a traced run of a plan showed it: what the parts of its model take, what
// dispatching and messages take, and what it reaches of operations and bytes a second.
//
//   Machine machine = calibrated(table, observedTimes(table, traces), {.name = "here", …});
//
// Costs of other orders, splits and numbers of ranks and microbatches of the same model follow from
// it (MachineCosts.h).
#pragma once

#include <cstdint>
#include <string>

#include "compiler/Analysis/Measured.h"
#include "compiler/Machine/Machine.h"
#include "compiler/Verify/ActionTable.h"

namespace vime {

struct CalibratedRun {
  std::string name;        // of the machine
  std::string source;      // which run
  std::uint32_t cores = 0; // that its ranks shared; 0: each had its own
};

Machine calibrated(const verify::ActionTable &table, const ObservedTimes &observed,
                   const CalibratedRun &run);

} // namespace vime
