// Neighbours: keys a little different from those that gave a good timing.
#include "schedules/Search/Neighbours.h"

#include <algorithm>

namespace vime {

namespace {

std::int64_t averageDuration(const Flow &flow) {
  std::int64_t sum = 0;
  for (const Pass &pass : flow.passes)
    sum += pass.duration;
  return std::max<std::int64_t>(1, sum / static_cast<std::int64_t>(flow.passes.size()));
}

// What is added to the keys of each pass: of one, of three neighbouring stages, or of all stages
// that a microbatch passes on one way through the ranks, alike or more from rank to rank.
class Shift {
public:
  Shift(const Flow &flow, std::int64_t most, Random &random)
      : flow(flow), by(random.around(most)), of(flow.passes.size()) {
    const auto stages = static_cast<std::int64_t>(flow.placement.size());
    const std::int64_t kind = random.below(kPassesOfStage), stage = random.below(stages);
    const std::int64_t way = stage < flow.ranks ? 0 : flow.ranks; // its first stage
    switch (random.below(6)) {
    case 0:
    case 1:
      add(kind, stage, stage + 1, false);
      break;
    case 2:
      add(kind, stage, std::min(stage + 3, stages), false);
      break;
    case 3:
      add(kind, way, way + flow.ranks, false);
      break;
    default:
      add(kind, way, way + flow.ranks, true);
      break;
    }
  }

  std::int64_t operator[](std::size_t pass) const { return of[pass]; }

private:
  void add(std::int64_t kind, std::int64_t first, std::int64_t end, bool growsWithRank) {
    for (std::int64_t stage = first; stage < end; ++stage) {
      const auto pass = static_cast<std::size_t>(stage * kPassesOfStage + kind);
      of[pass] = growsWithRank ? by * flow.passes[pass].rank / 2 : by;
    }
  }

  const Flow &flow;
  std::int64_t by;
  std::vector<std::int64_t> of;
};

Taste anyTaste(std::int64_t work, Random &random) {
  return {.patience = random.oneIn(2) ? 0 : random.below(work / 2 + 1),
          .impatience = 1 + random.below(3),
          .eagerness = random.oneIn(2) ? kForever : random.below(3 * work)};
}

// Keys that a rank has within some time, each by another amount.
void stir(const Flow &flow, Times &keys, std::int64_t most, Random &random) {
  const auto [least, largest] = std::minmax_element(keys.begin(), keys.end());
  const std::int64_t range = *largest - *least + 1, first = *least + random.below(range);
  const std::int64_t end = first + random.below(range / 2 + 1), rank = random.below(flow.ranks);
  for (std::size_t pass = 0; pass < flow.passes.size(); ++pass)
    if (flow.passes[pass].rank == rank)
      for (int microbatch = 0; microbatch < flow.microbatches; ++microbatch)
        if (std::int64_t &key = keys[flow.at(pass, microbatch)]; first <= key && key < end)
          key += random.around(most);
}

} // namespace

Kernel neighbourOf(const Flow &flow, Kernel kernel, Random &random) {
  const std::int64_t most = averageDuration(flow) << random.below(4);
  const std::int64_t work = workPerMicrobatch(flow);
  for (std::int64_t changes = 1 + random.below(3); changes > 0; --changes)
    switch (random.below(10)) {
    case 0:
      kernel.period = work + random.below(2) * random.below(work / 2 + 1);
      break;
    case 1:
    case 2:
      kernel.taste = anyTaste(work, random);
      break;
    case 3:
      kernel.ends = random.oneIn(2) ? Ends::Anywhere : Ends::Staggered;
      break;
    default: {
      const Shift shift(flow, most, random);
      for (std::size_t pass = 0; pass < flow.passes.size(); ++pass)
        kernel.keys[pass] += shift[pass];
      break;
    }
    }
  return kernel;
}

Urgency neighbourOf(const Flow &flow, Urgency urgency, Random &random) {
  const std::int64_t most = averageDuration(flow) << random.below(5);
  switch (random.below(5)) {
  case 0:
    for (std::int64_t &key : urgency.keys)
      key += random.around(most);
    break;
  case 1:
    stir(flow, urgency.keys, most, random);
    break;
  default: {
    const Shift shift(flow, most, random);
    for (std::size_t pass = 0; pass < flow.passes.size(); ++pass)
      for (int microbatch = 0; microbatch < flow.microbatches; ++microbatch)
        urgency.keys[flow.at(pass, microbatch)] += shift[pass];
    break;
  }
  }
  urgency.taste = anyTaste(workPerMicrobatch(flow), random);
  return urgency;
}

} // namespace vime
