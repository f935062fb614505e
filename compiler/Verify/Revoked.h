// Revoked: what a rank does in vain in an iteration, because the verdict on the step before is bad:
// all that stands in front of its `settle`. What these tasks leave nobody may use (S2), and each of
// them runs once more (S1).
#pragma once

#include "compiler/Verify/ActionTable.h"

namespace vime::verify {

/// The entry of the first `settle` of the segment, or kNone.
std::uint32_t settleOf(const ActionTable &table, const RankView &rank, const Segment &segment);

/// The entry of the first `optimize_early` of the segment; its start where there is none.
std::uint32_t earlyUpdateOf(const ActionTable &table, const RankView &rank, const Segment &segment);

/// The end of what is revoked: the `settle`, or the start of the segment where the verdict stands.
std::uint32_t endOfRevoked(const ActionTable &table, const RankView &rank, const Segment &segment);

} // namespace vime::verify
