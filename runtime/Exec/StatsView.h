// StatsView: what ranks have gathered in one buffer: RankStats of each, and of a plan with rounds
// PolicyNumbers behind them.
//
//   StatsView stats(plan, instruction.operands[1], plan.mesh.trainers());
//   stats[rank].loss
//   stats.policyOf(rank).kl                 // only where the plan has rounds
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/Plan/BatchCaps.h"

namespace vime {

class StatsView {
public:
  StatsView(const plan::Plan &plan, const std::byte *at, std::uint32_t ranks)
      : first(at), stride(plan::statsBytes(plan)), count(ranks) {}

  std::uint32_t ranks() const { return count; }
  const plan::RankStats &operator[](std::uint32_t rank) const {
    return *reinterpret_cast<const plan::RankStats *>(first + rank * stride);
  }
  const plan::PolicyNumbers &policyOf(std::uint32_t rank) const {
    return *reinterpret_cast<const plan::PolicyNumbers *>(&(*this)[rank] + 1);
  }
  /// One behind the other.
  std::vector<plan::RankStats> copy() const {
    std::vector<plan::RankStats> all;
    for (std::uint32_t rank = 0; rank < count; ++rank)
      all.push_back((*this)[rank]);
    return all;
  }

private:
  const std::byte *first;
  std::uint64_t stride;
  std::uint32_t count;
};

} // namespace vime
