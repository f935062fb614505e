// Describe: actions, channels and buffers in the words of messages, the same from every tool.
//
//   describe(plan, 1, 17)        // "send forward to rank 2, stage 1, microbatch 3"
//   describeLane(plan, 1, 4)     // "channel `rank 1 → rank 2, forward`"
//   describeBuffer(plan, 1, 6)   // "input of stage 1"
//
// Stages are those of the model, not the rank's own indices. Works on a plan of which a rank read
// only its part, and on one that breaks every rule: what cannot be resolved is named by its number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/Plan/Plan.h"

namespace vime::plan {

/// The rank that `peer` means, seen from `rank`.
std::uint32_t resolvePeer(const Mesh &mesh, std::uint32_t rank, const Peer &peer);

/// The program (layout) of a rank; null if the plan has none for it.
const Program *programOf(const Plan &plan, std::uint32_t rank);
const Layout *layoutOf(const Plan &plan, std::uint32_t rank);

/// Action `action` of the program of `rank`: in general, where its microbatch may be `0 + 2 ×
/// iteration`, or in one iteration.
std::string describe(const Plan &plan, std::uint32_t rank, std::uint32_t action,
                     std::optional<std::uint32_t> iteration = std::nullopt);

/// `compute lane`, `channel `rank 0 → rank 1, forward``, `group `step``.
std::string describeLane(const Plan &plan, std::uint32_t rank, std::uint32_t lane);

/// `microbatches = 3`: an entry of the condition table, counted from 1.
std::string describeCondition(const Plan &plan, std::uint32_t entry);

/// `weights of stage 2`, `header`, `all_stats`.
std::string describeBuffer(const Plan &plan, std::uint32_t rank, std::uint32_t buffer);

} // namespace vime::plan
