#include "compiler/Lowering/FoldClock.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

namespace vime {
namespace {

constexpr int kMostAdvance = 255; // what an action can say

/// What is the same in all trips.
int keyOf(const PipelineNode &node) {
  return static_cast<int>(node.kind) + kNodeKinds * node.stage;
}

std::size_t lengthOf(const ClockPart &part) { return (part.end - part.begin) * part.shown; }
std::size_t behind(const ClockPart &part) { return part.begin + lengthOf(part); }

/// Finds loops around single nodes.
class Repetitions {
public:
  Repetitions(const PipelineClock &clock, int stages, int microbatches, int slices)
      : nodes(clock.nodes), microbatches(microbatches), slices(slices),
        places(static_cast<std::size_t>(stages) * kNodeKinds * microbatches, kNowhere),
        clearing(clearingMicrobatches(clock, static_cast<std::size_t>(stages))) {
    for (std::size_t index = 0; index < nodes.size(); ++index)
      places[placeOf(nodes[index], nodes[index].microbatch)] = static_cast<std::uint32_t>(index);
  }

  /// The longest loop around a node, with the shortest body.
  std::optional<ClockPart> around(std::size_t index) const {
    const PipelineNode &node = nodes[index];
    const int most = std::min(kMostAdvance, microbatches - 1 - node.microbatch);
    for (int advance = slices; advance <= most; advance += slices) {
      const std::size_t next = places[placeOf(node, node.microbatch + advance)];
      if (next == kNowhere || next <= index)
        continue;
      const Shift shift{next - index, advance, nodes[next].time - node.time};
      std::size_t end = index;
      while (end < next && repeats(end, shift))
        ++end;
      if (end == next)
        return extended(index, end, shift);
    }
    return std::nullopt;
  }

private:
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  struct Shift {
    std::size_t nodes;
    int microbatches, time;
  };

  std::size_t placeOf(const PipelineNode &node, int microbatch) const {
    return static_cast<std::size_t>(keyOf(node)) * microbatches + microbatch;
  }

  bool startsTime(std::size_t index) const {
    return index == 0 || nodes[index].time != nodes[index - 1].time;
  }

  /// The first gradient of a stage overwrites, and its microbatch is not skipped, as no other one.
  bool repeats(std::size_t index, const Shift &shift) const {
    if (index + shift.nodes >= nodes.size())
      return false;
    const PipelineNode &one = nodes[index], &other = nodes[index + shift.nodes];
    const int cleared = clearing[static_cast<std::size_t>(one.stage)];
    return one.kind == other.kind && one.stage == other.stage &&
           other.microbatch - one.microbatch == shift.microbatches &&
           other.time - one.time == shift.time && one.microbatch != cleared &&
           other.microbatch != cleared;
  }

  /// Every trip begins with all that happens at one time: else it would begin in the middle of what
  /// the one before ends with.
  std::optional<ClockPart> extended(std::size_t begin, std::size_t end, const Shift &shift) const {
    while (begin > 0 && repeats(begin - 1, shift))
      --begin;
    while (repeats(end, shift))
      ++end;
    while (begin < end && !(startsTime(begin) && startsTime(begin + shift.nodes)))
      ++begin;
    if (begin == end)
      return std::nullopt;
    const auto trips = static_cast<std::uint32_t>((end - begin) / shift.nodes + 1);
    return ClockPart{.begin = begin,
                     .end = begin + shift.nodes,
                     .trips = trips,
                     .shown = trips,
                     .advance = shift.microbatches,
                     .period = shift.time};
  }

  const std::span<const PipelineNode> nodes;
  const int microbatches, slices;
  std::vector<std::uint32_t> places; // by key and microbatch
  std::vector<int> clearing;         // by stage
};

/// A loop around the middle of the clock, or, if that is not most of it, also around its quarters:
/// an order has one steady state, or one for each direction.
std::vector<ClockPart> loopsOf(const Repetitions &repetitions, std::size_t nodes) {
  std::vector<ClockPart> loops;
  for (const std::size_t place : {nodes / 2, nodes / 4, nodes / 4 * 3}) {
    const auto loop = repetitions.around(place);
    if (loop && std::none_of(loops.begin(), loops.end(), [&](const ClockPart &other) {
          return loop->begin < behind(other) && other.begin < behind(*loop);
        }))
      loops.push_back(*loop);
    if (loops.size() == 1 && 2 * lengthOf(loops.front()) > nodes)
      break;
  }
  std::sort(loops.begin(), loops.end(),
            [](const ClockPart &one, const ClockPart &other) { return one.begin < other.begin; });
  return loops;
}

/// All of the clock: loops, and what is around them.
std::vector<ClockPart> partsAround(const std::vector<ClockPart> &loops, std::size_t nodes) {
  std::vector<ClockPart> parts;
  std::size_t begin = 0;
  for (const ClockPart &loop : loops) {
    parts.push_back({.begin = begin, .end = loop.begin});
    parts.push_back(loop);
    begin = behind(loop);
  }
  parts.push_back({.begin = begin, .end = nodes});
  return parts;
}

/// What is around a loop belongs to microbatches before its own or behind them, so that with a trip
/// less it is the same, `advance` microbatches earlier behind the loop.
class Surroundings {
public:
  Surroundings(std::span<const PipelineNode> nodes, int stages, const std::vector<ClockPart> &parts)
      : nodes(nodes), stages(stages), parts(parts) {}

  bool areInOrder() {
    for (std::size_t part = 1; part < parts.size(); part += 2)
      if (!areInOrder(part))
        return false;
    return true;
  }
  /// Every task is of one loop, or right in front of it or behind it.
  bool shrink() const {
    std::size_t owned = 0;
    for (std::size_t part = 1; part < parts.size(); part += 2)
      owned += counts[part / 2];
    const auto advanceOf = [&](std::size_t part) { return parts[part].advance; };
    for (std::size_t part = 3; part < parts.size(); part += 2)
      if (advanceOf(part) != advanceOf(1))
        return false;
    return parts.size() > 1 && owned == nodes.size();
  }

private:
  static constexpr int kNever = -1;

  /// Counts the nodes of tasks in the loop that lie between its neighbours.
  bool areInOrder(std::size_t part) {
    const ClockPart &loop = parts[part];
    std::vector<int> first(static_cast<std::size_t>(stages) * kNodeKinds * loop.advance, kNever);
    std::vector<char> isKnown(static_cast<std::size_t>(stages) * kNodeKinds, 0);
    for (std::size_t index = loop.begin; index < loop.end; ++index) {
      first[residueOf(nodes[index], loop.advance)] = nodes[index].microbatch;
      isKnown[keyOf(nodes[index])] = 1;
    }
    const std::size_t begin = parts[part - 1].begin, end = parts[part + 1].end;
    counts.push_back(0);
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      const PipelineNode &node = nodes[index];
      if (!isKnown[keyOf(node)])
        continue;
      counts.back() += begin <= index && index < end;
      const int own = first[residueOf(node, loop.advance)];
      const int last = own + loop.advance * static_cast<int>(loop.shown);
      if (own == kNever || (index < loop.begin && node.microbatch >= own) ||
          (index >= behind(loop) && node.microbatch < last))
        return false;
    }
    return true;
  }

  static std::size_t residueOf(const PipelineNode &node, int advance) {
    return static_cast<std::size_t>(keyOf(node)) * advance + node.microbatch % advance;
  }

  const std::span<const PipelineNode> nodes;
  const int stages;
  const std::vector<ClockPart> &parts;
  std::vector<std::size_t> counts; // by loop
};

} // namespace

std::uint32_t FoldedClock::perTrip() const {
  return shrinks ? static_cast<std::uint32_t>(parts[1].advance) : 0;
}

bool FoldedClock::covers(std::uint32_t fewer) const {
  return fewer == 0 || (shrinks && fewer % perTrip() == 0 &&
                        std::all_of(parts.begin(), parts.end(), [&](const ClockPart &part) {
                          return !part.isLoop() || fewer / perTrip() < part.trips;
                        }));
}

FoldedClock unfolded(PipelineClock clock) {
  const std::size_t nodes = clock.nodes.size();
  return {.clock = std::move(clock), .parts = {{.begin = 0, .end = nodes}}};
}

FoldedClock foldClock(PipelineClock clock, int stages, int microbatches, int slices) {
  const std::vector<PipelineNode> &nodes = clock.nodes;
  if (nodes.empty())
    return unfolded(std::move(clock));
  const auto loops = loopsOf(Repetitions(clock, stages, microbatches, slices), nodes.size());
  std::vector<ClockPart> parts = partsAround(loops, nodes.size());
  Surroundings surroundings(nodes, stages, parts);
  if (!surroundings.areInOrder())
    return unfolded(std::move(clock));
  const bool shrinks = surroundings.shrink();
  return {.clock = std::move(clock), .parts = std::move(parts), .shrinks = shrinks};
}

CountedNodes countNodes(const FoldedClock &folded) {
  CountedNodes nodes;
  for (const ClockPart &part : folded.parts) {
    nodes.kept += part.end - part.begin;
    nodes.all += (part.end - part.begin) * part.trips;
  }
  return nodes;
}

} // namespace vime
