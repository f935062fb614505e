#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "compiler/Driver/Difference.h"
#include "compiler/View/ReadChromeTrace.h"
#include "compiler/View/TimelineClasses.h"

namespace vime {
namespace {

/// As the page writes it: `2F5`, `send, stage 2, microbatch 5`.
std::string labelOf(const Timeline &timeline, const Bar &bar) {
  const BarKind &kind = timeline.kinds[bar.kind];
  if (!kind.letter.empty())
    return fmt::format("{}{}{}", bar.stage, kind.letter, bar.microbatch);
  return kind.name + (bar.stage < 0 ? "" : fmt::format(", stage {}", bar.stage)) +
         (bar.microbatch < 0 ? "" : fmt::format(", microbatch {}", bar.microbatch));
}

Rows rowsOf(const Timeline &timeline) {
  return {timeline.rows.size(),
          [&timeline](std::size_t rank) { return timeline.rows[rank].bars.size(); },
          [&timeline](std::size_t rank, std::size_t place) {
            return labelOf(timeline, timeline.rows[rank].bars[place]);
          }};
}

std::uint64_t peakOf(const Timeline &timeline) {
  std::uint64_t peak = 0;
  for (const TimelineRow &row : timeline.rows)
    for (const MemoryPoint &point : row.memory)
      peak = std::max(peak, point.bytes);
  return peak;
}

/// Shares of all ranks' time, by cause.
void addIdle(const Timeline &one, const Timeline &other, std::vector<Measure> &measures) {
  const auto share = [](const Timeline &timeline, std::int64_t IdleTime::*cause) {
    std::int64_t sum = 0;
    for (const TimelineRow &row : timeline.rows)
      sum += row.idle.*cause;
    const auto all =
        static_cast<double>(timeline.period) * static_cast<double>(timeline.rows.size());
    return all == 0 ? 0 : 100 * static_cast<double>(sum) / all;
  };
  for (const auto &[name, cause] :
       {std::pair("warm-up", &IdleTime::warmUp), std::pair("dependence", &IdleTime::dependence),
        std::pair("communication", &IdleTime::communication),
        std::pair("imbalance", &IdleTime::imbalance), std::pair("cool-down", &IdleTime::coolDown)})
    measures.push_back({std::string("  ") + name, share(one, cause), share(other, cause), "%"});
}

/// How long one of each class takes; what passes between ranks also waits for it.
void addClasses(const Timeline &one, const Timeline &other, std::vector<Measure> &measures) {
  std::map<std::string, ClassTimes> right;
  for (ClassTimes &times : classesOf(other))
    right[times.name] = times;
  const auto mean = [](std::int64_t time, const ClassTimes &times, double perUnit) {
    return static_cast<double>(time) / static_cast<double>(times.count) / perUnit;
  };
  for (const ClassTimes &times : classesOf(one)) {
    const auto found = right.find(times.name);
    if (found == right.end())
      continue;
    const ClassTimes &its = found->second;
    if (times.lasted != 0 || its.lasted != 0)
      measures.push_back({times.name, mean(times.lasted, times, one.perUnit),
                          mean(its.lasted, its, other.perUnit), one.unit});
    if (times.lane != DrawnLane::Compute && (times.waited != 0 || its.waited != 0))
      measures.push_back({times.name + ", waiting", mean(times.waited, times, one.perUnit),
                          mean(its.waited, its, other.perUnit), one.unit});
  }
}

} // namespace

StatusOr<Difference> differenceOfTraces(const DiffArguments &arguments) {
  const StatusOr<Timeline> one = readChromeTrace(arguments.one);
  if (!one.ok())
    return one.status();
  const StatusOr<Timeline> other = readChromeTrace(arguments.other);
  if (!other.ok())
    return other.status();
  if (one->unit != other->unit)
    return Status(StatusCode::InvalidInput,
                  fmt::format("`{}` counts in {}, `{}` in {}\nhelp: simulate both under the same "
                              "costs, or measure both",
                              arguments.one, one->unit, arguments.other, other->unit));
  const auto step = [](const Timeline &timeline) {
    return static_cast<double>(timeline.period) / timeline.perUnit;
  };
  Difference difference;
  difference.measures = {{"step", step(*one), step(*other), one->unit},
                         {"bubble", 100 * one->bubble, 100 * other->bubble, "%"}};
  addIdle(*one, *other, difference.measures);
  addClasses(*one, *other, difference.measures);
  difference.measures.push_back({"most memory", static_cast<double>(peakOf(*one)),
                                 static_cast<double>(peakOf(*other)), "bytes"});
  difference.measures.push_back({"critical path", static_cast<double>(one->path.size()),
                                 static_cast<double>(other->path.size()), "actions"});
  difference.divergences = divergencesBetween(rowsOf(*one), rowsOf(*other));
  return difference;
}

} // namespace vime
