// Slack: how much later each action of a step could end without any step taking longer.
//
//   const std::vector<std::int64_t> slack = slackOf(table, durations, run);
//   slack[entry]   // 0: every later end of it makes the step longer; kNoSlack: not in the step
//
// Everything else goes on as it did: each rank dispatches its actions in their sequence, a link
// carries its messages in the one that it had, and nothing takes longer than it took. What follows
// in the next step counts too: steps go on as this one did, each a period later.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/Analysis/Simulate.h"

namespace vime {

constexpr std::int64_t kNoSlack = -1;

/// By entry, in nanoseconds, of the last simulated step. The run was simulated and not stuck.
std::vector<std::int64_t> slackOf(const verify::ActionTable &table, const Durations &durations,
                                  const Simulated &run);

} // namespace vime
