// LinkLoad: what each link carries in a step, and how much of it something is on its way there.
//
//   for (const LinkLoad &link : linkLoadsOf(table, run))
//     link.source, link.destination, link.bytes, link.busy // the busiest one first
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/Analysis/Simulate.h"

namespace vime {

/// From one rank to another, one way.
struct LinkLoad {
  std::uint32_t source = 0, destination = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0; // if all microbatches are full
  std::int64_t busy = 0;   // nanoseconds in which at least one message is on its way
};

/// Of the last step of a run. Messages of groups travel on no link of their own.
std::vector<LinkLoad> linkLoadsOf(const verify::ActionTable &table, const Simulated &run);

} // namespace vime
