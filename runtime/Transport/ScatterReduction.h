// Scatter reduction: a reduce-scatter over messages between all members.
//
// Every member sends each other one its part and adds up its own, chunk by chunk, in ascending
// order of the members. Everybody sends and receives the whole but for its own part once.
#pragma once

#include <cstdint>

#include "runtime/Base/Status.h"
#include "runtime/Transport/ChainReduction.h"

namespace vime {

/// Returns when the sum of this member's part is at its place, and what it gave has been taken. All
/// members call it alike.
Status reduceToParts(const Payload &payload, std::uint32_t member, std::uint32_t members,
                     ChainLinks &links);

} // namespace vime
