#include "compiler/View/TimelineClasses.h"

namespace vime {

std::vector<ClassTimes> classesOf(const Timeline &timeline) {
  std::vector<ClassTimes> classes;
  for (const BarKind &kind : timeline.kinds)
    classes.push_back({kind.name});
  for (const TimelineRow &row : timeline.rows)
    for (const Bar &bar : row.bars) {
      ClassTimes &times = classes[bar.kind];
      times.lane = bar.lane;
      ++times.count;
      times.lasted += bar.end - bar.begin;
      times.waited += bar.begin - bar.posted;
    }
  std::erase_if(classes, [](const ClassTimes &times) { return times.count == 0; });
  return classes;
}

} // namespace vime
