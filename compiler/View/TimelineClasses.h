// The bars of a timeline by what they are, added up: where two timelines of a plan differ.
//
//   classesOf(timeline)[0]      // forward: 32 of them, 41.2 ms in all, of it nothing waited
#pragma once

#include <string>
#include <vector>

#include "compiler/View/Timeline.h"

namespace vime {

struct ClassTimes {
  std::string name; // `forward`, `send`
  DrawnLane lane = DrawnLane::Compute;
  std::int64_t count = 0;
  std::int64_t lasted = 0; // nanoseconds from begin to end, of all of them
  std::int64_t waited = 0; // from when they were posted to when they began
};

/// In the sequence of the timeline's kinds; those that no bar is of are left out.
std::vector<ClassTimes> classesOf(const Timeline &timeline);

} // namespace vime
