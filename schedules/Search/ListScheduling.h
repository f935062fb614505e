// List scheduling: runs a flow step by step; each rank takes the most urgent pass that it can
// start.
//
//   Timing timing = listScheduled(flow, {.keys = starts});
//
// Ranks move in the order of time, so a choice sees all that can be ready by then. A rank takes an
// activation only if it has room for it, and the last room only if a microbatch that is there can
// leave: so no choice of keys can get stuck.
#pragma once

#include "schedules/Search/Flow.h"

namespace vime {

/// A time that never comes, small enough to be added to another.
inline constexpr std::int64_t kForever = INT64_MAX / 4;

/// What a rank does where urgency alone does not decide.
struct Taste {
  std::int64_t patience = 0;         // how long it idles for a more urgent pass
  std::int64_t impatience = 1;       // what a unit of that time counts beside urgency
  std::int64_t eagerness = kForever; // how long before its key a pass may take memory
};

/// What a rank takes first.
struct Urgency {
  Times keys; // the smallest, like a time at which it is due
  Taste taste{};
  std::vector<std::int64_t> notBefore{}; // per rank: when its first pass may start; empty: at once
};

Timing listScheduled(const Flow &flow, const Urgency &urgency);

} // namespace vime
