// LiveSet: which slots hold something that is still needed, action by action, and where most bytes
// do. M1 shows it when a rank needs too much; `vimec show --memory` always.
//
//   for (const TierMemory &tier : liveSetOf(table, rank))
//     tier.peak, tier.action, tier.parts   // 2112 bytes, at action 12, largest part first
//
// A slot is alive from the write that fills it to the last use before it is filled again. What a
// step reads before it writes it lives on from step to step, as weights do. Arenas are reserved
// once: what is alive says why they have their size, not what they take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/Verify/ActionTable.h"

namespace vime::verify {

/// A buffer at the peak of its tier.
struct MemoryPart {
  std::uint32_t buffer = 0;     // index in the layout
  std::uint64_t bytes = 0;      // of all its slots, gaps between them included
  std::uint64_t aliveBytes = 0; // at the peak
  std::uint32_t aliveSlots = 0; // at the peak
};

struct TierMemory {
  plan::Tier tier = plan::Tier::Device;
  std::uint64_t arena = 0;
  std::uint64_t peak = 0;        // bytes alive
  std::uint32_t action = kNone;  // where they are, first of several; kNone: nothing is ever alive
  std::vector<MemoryPart> parts; // every buffer of the tier, largest first
};

/// Of the tiers that the rank uses. The plan has passed `verifyIndicesInRange`.
std::vector<TierMemory> liveSetOf(const ActionTable &table, const RankView &rank);

/// Bytes alive in the tier at each entry of the rank, from its first one on.
std::vector<std::uint64_t> aliveBytesOf(const ActionTable &table, const RankView &rank,
                                        plan::Tier tier);

} // namespace vime::verify
