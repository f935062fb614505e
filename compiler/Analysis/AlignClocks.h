// alignClocks: traces of ranks whose clocks differ, on one clock.
#pragma once

#include <vector>

#include "compiler/Verify/ActionTable.h"
#include "runtime/Trace/Trace.h"

namespace vime {

/// Puts all times on the clock of the first rank. Ranks of one machine share a clock already. Of
/// others offset and drift follow from the messages that they exchange: of those that travel
/// soonest one way and the other, half of the difference is the offset, early in the trace and
/// late.
void alignClocks(const verify::ActionTable &table, std::vector<trace::RankTrace> &traces);

} // namespace vime
