// A simulator that nobody would use: it looks at every rank at every tick of time. For tests,
// beside the one that jumps from event to event; it shares the table of actions with it and nothing
// else.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/Analysis/Durations.h"
#include "compiler/Verify/ActionTable.h"

namespace vime {

struct TickTimes {
  std::int64_t posted = -1, end = -1;
};

/// By entry, of one trip of every loop over steps; durations are in ticks, ranks have cores of
/// their own, and groups take no time. Entries in `later` end so much later than they would. Gives
/// up behind `most` ticks.
std::vector<TickTimes> tickThrough(const verify::ActionTable &table, const Durations &durations,
                                   std::int64_t most,
                                   const std::map<std::uint32_t, std::int64_t> &later = {});

} // namespace vime
