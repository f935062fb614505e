// Traces made of a simulated run: what ranks would have traced, had it taken place.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/Analysis/Simulate.h"
#include "runtime/Trace/Trace.h"

namespace vime {

/// Of so many steps, one after the other, with a pause of 5 us between them.
std::vector<trace::RankTrace> tracesOf(const verify::ActionTable &table, const Simulated &run,
                                       std::uint32_t steps);

} // namespace vime
