// SpreadPlan: a plan whose slots stand apart, each on pages of its own with an unused one before
// and behind it.
//
//   plan::Plan wide = spread(plan, Side::End);
//   for (const Extent &gap : gapsOf(wide.layouts[0], plan::Tier::Device))
//     mprotect(base + gap.begin, gap.end - gap.begin, PROT_NONE); // an overrun is a fault
//
// Offsets are all that a run knows of where its memory lies, so it is the same run. Slots that one
// message moves together, as the coordinator does with tokens and labels, stay together.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime {

constexpr std::uint64_t kPage = 4096;

/// Where a slot touches an unused page: it starts right behind one, or ends right before one (but
/// for up to 7 bytes in front of it that a double's alignment takes).
enum class Side { Start, End };

plan::Plan spread(plan::Plan plan, Side side);

/// Bytes [begin, end) of an arena.
struct Extent {
  std::uint64_t begin = 0, end = 0;
};

/// What is never apart: every slot, or all slots of a buffer that messages move as a whole.
struct Region {
  std::uint32_t buffer = 0, slot = 0;
  Extent extent;
};

/// Of a tier of a spread layout, ascending.
std::vector<Region> regionsOf(const plan::Layout &layout, plan::Tier tier);

/// The pages of a tier that no region of a spread layout has, ascending.
std::vector<Extent> gapsOf(const plan::Layout &layout, plan::Tier tier);

} // namespace vime
