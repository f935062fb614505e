#include "runtime/Plan/Loops.h"

#include <algorithm>

namespace vime::plan {
namespace {

bool advances(const Program &program, std::uint32_t begin, std::uint32_t end) {
  return std::any_of(program.actions.begin() + begin, program.actions.begin() + end,
                     [](const Action &action) { return action.step != 0; });
}

bool holdsLoops(const Program &program, const Loop &loop) {
  return std::any_of(program.loops.begin(), program.loops.end(), [&](const Loop &other) {
    return &other != &loop && other.begin >= loop.begin && other.end <= loop.end;
  });
}

/// What is wrong with a loop by itself and with its place in the table.
const char *problemOf(const Program &program, const Loop &loop, std::uint32_t beginBefore) {
  if (loop.begin < beginBefore || loop.end <= loop.begin || loop.end > program.actions.size() ||
      loop.trips < 1)
    return "does not fit its program";
  return nullptr;
}

/// `outer` is the latest outermost loop, `inner` the latest one in it; null if there is none.
const char *problemOf(const Loop &loop, const Loop *outer, const Loop *inner) {
  if (!outer || loop.begin >= outer->end)
    return nullptr;
  if (loop.end > outer->end)
    return "overlaps another one";
  if (!inner || loop.begin >= inner->end)
    return nullptr;
  return loop.end > inner->end ? "overlaps another one"
                               : "lies in two others; only one is possible";
}

/// A case holds loops over microbatches whole, or lies in a loop over steps.
const char *problemOf(const Program &program, const Case &one, const Loop &loop) {
  if (loop.end <= one.begin || one.end <= loop.begin)
    return nullptr;
  if (one.begin <= loop.begin && loop.end <= one.end)
    return loop.until == 0 ? nullptr : "holds a loop that may end early";
  if (one.begin < loop.begin || loop.end < one.end)
    return "cuts a loop";
  return advances(program, loop.begin, loop.end) && !holdsLoops(program, loop)
             ? "lies in a loop over microbatches"
             : nullptr;
}

/// What a stretch has of each case and what it has between them. Behind the edge of a case nothing
/// advances by a loop in front of it.
std::vector<Stretch> cutAtCases(const Program &program, const std::vector<Stretch> &stretches) {
  std::vector<Stretch> pieces;
  auto next = program.cases.begin();
  for (const Stretch &stretch : stretches) {
    Stretch piece = stretch;
    const auto add = [&](std::uint32_t end, const Case *within) {
      if (piece.begin == end)
        return;
      if (piece.begin != stretch.begin || (!pieces.empty() && pieces.back().within != within))
        piece.first = 0;
      piece.end = end;
      piece.within = within;
      pieces.push_back(piece);
      piece.begin = end;
    };
    for (; next != program.cases.end() && next->begin < stretch.end; ++next) {
      add(std::max(piece.begin, next->begin), nullptr);
      add(std::min(next->end, stretch.end), &*next);
      if (next->end > stretch.end)
        break; // it goes on in the next stretch
    }
    add(stretch.end, nullptr);
    if (stretch.begin == stretch.end) {
      const bool isInside = next != program.cases.end() && next->begin < stretch.begin;
      piece.within = isInside ? &*next : nullptr; // nothing between two of its loops
      pieces.push_back(piece);
    }
  }
  return pieces;
}

class Cutting {
public:
  Cutting(const Program &program, std::span<const std::uint32_t> trips)
      : program(program), trips(trips), next(program.loops.data()),
        end(next + program.loops.size()) {}

  std::vector<Stretch> run() {
    Stretch outside;
    while (next != end) {
      const Loop &loop = *next++;
      add(outside, loop.begin);
      addLoop(loop);
      outside = {.begin = loop.end, .start = endOf(loop)};
    }
    add(outside, static_cast<std::uint32_t>(program.actions.size()));
    return std::move(stretches);
  }

private:
  void add(Stretch stretch, std::uint32_t until) {
    stretch.end = until;
    stretches.push_back(stretch);
  }

  std::uint32_t tripsOf(const Loop &loop) const {
    return trips[static_cast<std::size_t>(&loop - program.loops.data())];
  }
  /// From the start of its parent's iteration.
  std::int64_t endOf(const Loop &loop) const { return loop.start + loop.period * tripsOf(loop); }

  void addLoop(const Loop &loop) {
    const bool holdsLoops = next != end && next->begin < loop.end;
    if (!holdsLoops && advances(program, loop.begin, loop.end))
      return addMicrobatches(loop, 0, nullptr);
    Stretch own{.begin = loop.begin, .start = loop.start, .steps = &loop, .loop = &loop};
    for (; next != end && next->begin < loop.end; ++next) {
      add(own, next->begin);
      addMicrobatches(*next, loop.start, &loop);
      own.begin = next->end;
      own.start = loop.start + endOf(*next);
      own.first = tripsOf(*next);
    }
    add(own, loop.end);
  }

  void addMicrobatches(const Loop &loop, std::int64_t origin, const Loop *steps) {
    add({.begin = loop.begin,
         .start = origin + loop.start,
         .trips = tripsOf(loop),
         .period = loop.period,
         .steps = steps,
         .loop = &loop},
        loop.end);
  }

  const Program &program;
  const std::span<const std::uint32_t> trips;
  const Loop *next, *const end;
  std::vector<Stretch> stretches;
};

} // namespace

std::optional<LoopMisfit> findLoopMisfit(const Program &program) {
  if (program.loops.size() > kMostLoops)
    return LoopMisfit{&program.loops[kMostLoops], "is beyond the most that a program has"};
  const Loop *outer = nullptr, *inner = nullptr;
  std::uint32_t beginBefore = 0;
  for (const Loop &loop : program.loops) {
    const char *problem = problemOf(program, loop, beginBefore);
    if (!problem)
      problem = problemOf(loop, outer, inner);
    if (problem)
      return LoopMisfit{&loop, problem};
    beginBefore = loop.begin;
    const bool isInner = outer && loop.begin < outer->end;
    inner = isInner ? &loop : nullptr;
    outer = isInner ? outer : &loop;
  }
  const Loop *const end = program.loops.data() + program.loops.size();
  for (const Loop *loop = program.loops.data(); loop != end;) {
    const Loop *behind = loop + 1;
    while (behind != end && behind->begin < loop->end)
      ++behind;
    // It would have two iterations to go by, its own and that of the inner loop that comes.
    if (behind != loop + 1 && advances(program, loop->begin, loop[1].begin))
      return LoopMisfit{loop, "advances microbatches in front of one that it holds"};
    loop = behind;
  }
  return std::nullopt;
}

std::optional<CaseMisfit> findCaseMisfit(const Program &program) {
  if (program.cases.size() > kMostCases)
    return CaseMisfit{kMostCases, "is beyond the most that a program has"};
  std::uint32_t behind = 0; // where the case before ends
  for (std::size_t index = 0; index < program.cases.size(); ++index) {
    const Case &one = program.cases[index];
    if (one.begin < behind || one.end <= one.begin || one.end > program.actions.size())
      return CaseMisfit{index, "does not fit its program"};
    for (const Loop &loop : program.loops)
      if (const char *problem = problemOf(program, one, loop))
        return CaseMisfit{index, problem};
    behind = one.end;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> tripsOf(const Loop &loop, std::uint32_t whole,
                                     std::uint32_t microbatches) {
  if (loop.perTrip == 0)
    return loop.trips;
  const std::uint32_t missing = whole - std::min(whole, microbatches);
  if (microbatches > whole || missing % loop.perTrip != 0 || missing / loop.perTrip >= loop.trips)
    return std::nullopt;
  return loop.trips - missing / loop.perTrip;
}

std::vector<Stretch> stretchesOf(const Program &program) {
  std::vector<std::uint32_t> trips;
  for (const Loop &loop : program.loops)
    trips.push_back(loop.trips);
  return stretchesOf(program, trips);
}

std::vector<Stretch> stretchesOf(const Program &program, std::span<const std::uint32_t> trips) {
  std::vector<Stretch> stretches = Cutting(program, trips).run();
  return program.cases.empty() ? stretches : cutAtCases(program, stretches);
}

} // namespace vime::plan
