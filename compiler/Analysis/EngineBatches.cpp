#include "compiler/Analysis/EngineBatches.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace vime {

namespace {

struct Live {
  std::uint32_t draw = 0, prompt = 0, cached = 0, length = 0; // length: with what was drawn
  std::uint32_t left = 0;                                     // tokens to draw
  std::uint32_t pending() const { return length - cached; }
};

class Batches {
public:
  Batches(std::span<const EngineSequence> queue, EngineShape shape, const EngineCosts &costs)
      : queue(queue), shape(shape), costs(costs) {}

  EngineSums run() {
    while (next < queue.size() || !live.empty()) {
      for (; live.size() < shape.slots && next < queue.size(); ++next)
        live.push_back({.draw = queue[next].draw,
                        .prompt = queue[next].prompt,
                        .length = queue[next].prompt,
                        .left = queue[next].response});
      step();
      std::erase_if(live, [](const Live &one) { return one.left == 0; });
    }
    return sums;
  }

private:
  /// What another sample of the prompt has cached or will have; null: nothing.
  const Live *leaderOf(std::size_t place) const {
    const Live *best = nullptr;
    for (std::size_t other = 0; other < place; ++other)
      if (live[other].draw == live[place].draw && (!best || live[other].cached > best->cached))
        best = &live[other];
    return best;
  }

  /// Whether it waits for the prompt of another sample; copies what is there.
  bool waits(std::size_t place) {
    Live &own = live[place];
    if (own.cached != 0 || own.prompt == 1)
      return false;
    const Live *leader = leaderOf(place);
    if (!leader)
      return false;
    if (leader->cached < own.prompt - 1)
      return true;
    own.cached = own.prompt - 1;
    return false;
  }

  void step() {
    std::vector<std::uint32_t> counts(live.size(), 0);
    std::vector<std::size_t> prompts;
    std::uint32_t rows = 0;
    bool waited = false;
    for (std::size_t place = 0; place < live.size(); ++place) {
      const bool isWaiting = waits(place);
      waited = waited || isWaiting;
      if (isWaiting)
        continue;
      if (live[place].pending() == 1)
        rows += counts[place] = 1;
      else
        prompts.push_back(place);
    }
    for (const std::size_t place : prompts) {
      const std::uint32_t room = shape.stepTokens > rows ? shape.stepTokens - rows : 0;
      rows += counts[place] = std::min(live[place].pending(), room);
    }
    take(counts, prompts.empty() && !waited ? decodesAlone() : 1);
  }

  /// Steps until one of them ends, if all do the same until then.
  std::uint32_t decodesAlone() const {
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (const Live &one : live)
      least = std::min(least, one.left);
    return least;
  }

  void take(const std::vector<std::uint32_t> &counts, std::uint32_t times) {
    EngineLoad load;
    for (std::size_t place = 0; place < live.size(); ++place) {
      Live &one = live[place];
      const double count = counts[place];
      if (counts[place] == 0)
        continue;
      const double seen = one.cached + (times - 1) / 2.0; // in the middle one of these steps
      load.rows += count;
      load.pairs += count * seen + count * (count + 1) / 2;
      load.keys += seen + count;
      one.cached += counts[place];
      if (one.cached == one.length) {
        load.draws += 1;
        one.cached += times - 1;
        one.length += times;
        one.left -= times;
      }
    }
    sums.steps += times;
    sums.rows += times * load.rows;
    sums.draws += times * load.draws;
    sums.seconds += times * secondsOf(costs, load);
  }

  const std::span<const EngineSequence> queue;
  const EngineShape shape;
  const EngineCosts &costs;
  std::size_t next = 0;
  std::vector<Live> live; // as they came
  EngineSums sums;
};

} // namespace

EngineSums engineSums(std::span<const EngineSequence> queue, EngineShape shape,
                      const EngineCosts &costs) {
  return Batches(queue, shape, costs).run();
}

EngineCosts fitEngine(std::span<const EngineObservation> observations) {
  double ss = 0, sr = 0, rr = 0, st = 0, rt = 0;
  for (const EngineObservation &one : observations) {
    ss += one.steps * one.steps;
    sr += one.steps * one.rows;
    rr += one.rows * one.rows;
    st += one.steps * one.seconds;
    rt += one.rows * one.seconds;
  }
  const double determinant = ss * rr - sr * sr;
  EngineCosts costs;
  if (determinant > 1e-9 * ss * rr) {
    costs.step = (st * rr - rt * sr) / determinant;
    costs.row = (rt * ss - st * sr) / determinant;
  }
  if (costs.step < 0 || costs.row < 0 || determinant <= 1e-9 * ss * rr) {
    const bool byRows = costs.step <= costs.row;
    costs.step = byRows || ss == 0 ? 0 : st / ss;
    costs.row = byRows && rr != 0 ? rt / rr : 0;
  }
  return costs;
}

} // namespace vime
