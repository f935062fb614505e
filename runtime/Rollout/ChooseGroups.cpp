#include "runtime/Rollout/ChooseGroups.h"

#include <algorithm>

namespace vime {

ChosenGroups chooseGroups(const plan::RolloutSettings &rollout, std::span<const double> rewards) {
  std::vector<std::uint32_t> first, last; // groups, best ones first
  for (std::uint32_t group = 0; group < rollout.candidates; ++group) {
    const auto own = rewards.subspan(std::size_t{group} * rollout.samples, rollout.samples);
    const bool allEqual =
        std::all_of(own.begin(), own.end(), [&](double reward) { return reward == own.front(); });
    (rollout.dropsEqualRewards && allEqual ? last : first).push_back(group);
  }
  ChosenGroups chosen;
  const std::size_t good = std::min<std::size_t>(first.size(), rollout.prompts),
                    filled = rollout.prompts - good;
  chosen.trained.assign(first.begin(), first.begin() + std::ptrdiff_t(good));
  chosen.trained.insert(chosen.trained.end(), last.begin(), last.begin() + std::ptrdiff_t(filled));
  std::sort(chosen.trained.begin(), chosen.trained.end());
  chosen.filled = static_cast<std::uint32_t>(filled);
  chosen.dropped = static_cast<std::uint32_t>(last.size() - filled);
  chosen.unused = static_cast<std::uint32_t>(first.size() - good);
  return chosen;
}

} // namespace vime
