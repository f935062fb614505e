// Caps: what a rank may have open of its transport. The judges prove that a plan stays under them
// (C4), and a transport refuses to connect what exceeds them: no backend meets more than it was
// made for.
#pragma once

#include <cstdint>

namespace vime::plan {

/// Transfers of one end; a further one waits for the oldest, which the clock makes safe.
inline constexpr std::uint32_t kMostOpenTransfers = 64;

/// Groups of one rank: a communicator each.
inline constexpr std::uint32_t kMostOpenGroups = 16;

} // namespace vime::plan
