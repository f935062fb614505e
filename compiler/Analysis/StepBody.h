// StepBody: the entries of a rank that are one step, the body of the loop over steps, and which of
// them are tasks.
#pragma once

#include <utility>

#include "compiler/Verify/ActionTable.h"

namespace vime {

/// Null in a plan without such a loop.
inline const verify::Segment *stepBodyOf(const verify::RankView &rank) {
  for (const verify::Segment &segment : rank.segments)
    if (segment.isLoop())
      return &segment;
  return nullptr;
}

/// From the first one to behind the last one; of a plan without such a loop all.
inline std::pair<std::uint32_t, std::uint32_t> stepEntriesOf(const verify::RankView &rank) {
  const verify::Segment *body = stepBodyOf(rank);
  return body ? std::pair(body->first, body->end) : std::pair(rank.first, rank.end);
}

/// A forward or backward, whole or a half, of training or evaluation.
inline bool isTask(const plan::Action &action) {
  return plan::findSignature(action.opcode)->family == plan::Family::Compute;
}

} // namespace vime
