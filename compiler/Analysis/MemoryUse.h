// MemoryUse: how many bytes of a rank's arenas are needed while a step runs.
//
//   for (const TierUse &use : memoryUseOf(table, rank))
//     use.peak, use.entry   // as `vimec show --memory` says it
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/Verify/ActionTable.h"

namespace vime {

struct TierUse {
  plan::Tier tier = plan::Tier::Device;
  std::uint64_t arena = 0;             // reserved once
  std::uint64_t peak = 0;              // bytes alive at most
  std::uint32_t entry = verify::kNone; // where they are, first of several; kNone: none ever are
  std::vector<std::uint64_t> alive;    // at each entry of the rank, from its first one on
};

/// Of the tiers that the rank uses. What an action needs is alive from when it is posted.
std::vector<TierUse> memoryUseOf(const verify::ActionTable &table, const verify::RankView &rank);

} // namespace vime
