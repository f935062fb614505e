#include "compiler/Analysis/MemoryUse.h"

#include <algorithm>

#include "compiler/Verify/LiveSet.h"

namespace vime {

using plan::Tier;

std::vector<TierUse> memoryUseOf(const verify::ActionTable &table, const verify::RankView &rank) {
  std::vector<TierUse> uses;
  for (const Tier tier : {Tier::Device, Tier::Host}) {
    TierUse use{.tier = tier, .arena = rank.layout->arena[static_cast<std::size_t>(tier)]};
    if (use.arena == 0)
      continue;
    use.alive = verify::aliveBytesOf(table, rank, tier);
    const auto most = std::max_element(use.alive.begin(), use.alive.end());
    if (most != use.alive.end() && *most != 0) {
      use.peak = *most;
      use.entry = rank.first + static_cast<std::uint32_t>(most - use.alive.begin());
    }
    uses.push_back(std::move(use));
  }
  return uses;
}

} // namespace vime
