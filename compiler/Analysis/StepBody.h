// StepBody: the entries of a rank that are one step: the body of the loop over steps.
#pragma once

#include "compiler/Verify/ActionTable.h"

namespace vime {

/// Null in a plan without such a loop.
inline const verify::Segment *stepBodyOf(const verify::RankView &rank) {
  for (const verify::Segment &segment : rank.segments)
    if (segment.isLoop())
      return &segment;
  return nullptr;
}

} // namespace vime
