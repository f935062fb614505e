#include "runtime/Plan/Loops.h"

#include <algorithm>

namespace vime::plan {
namespace {

bool advances(const Program &program, std::uint32_t begin, std::uint32_t end) {
  return std::any_of(program.actions.begin() + begin, program.actions.begin() + end,
                     [](const Action &action) { return action.step != 0; });
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

/// The actions of a loop over steps itself: what advances there would have two iterations to go by.
bool advancesOutsideOfInner(const Program &program, const Loop *outer, const Loop *innerEnd) {
  std::uint32_t from = outer->begin;
  for (const Loop *inner = outer + 1; inner != innerEnd; ++inner) {
    if (advances(program, from, inner->begin))
      return true;
    from = inner->end;
  }
  return advances(program, from, outer->end);
}

class Cutting {
public:
  explicit Cutting(const Program &program)
      : program(program), next(program.loops.data()), end(next + program.loops.size()) {}

  std::vector<Stretch> run() {
    Stretch outside;
    while (next != end) {
      const Loop &loop = *next++;
      add(outside, loop.begin);
      addLoop(loop);
      outside = {.begin = loop.end, .start = loop.start + loop.period * loop.trips};
    }
    add(outside, static_cast<std::uint32_t>(program.actions.size()));
    return std::move(stretches);
  }

private:
  void add(Stretch stretch, std::uint32_t until) {
    stretch.end = until;
    stretches.push_back(stretch);
  }

  void addLoop(const Loop &loop) {
    const bool holdsLoops = next != end && next->begin < loop.end;
    if (!holdsLoops && advances(program, loop.begin, loop.end))
      return addMicrobatches(loop, 0, nullptr);
    Stretch own{.begin = loop.begin, .start = loop.start, .steps = &loop, .loop = &loop};
    for (; next != end && next->begin < loop.end; ++next) {
      add(own, next->begin);
      addMicrobatches(*next, loop.start, &loop);
      own.begin = next->end;
      own.start = loop.start + next->start + next->period * next->trips;
    }
    add(own, loop.end);
  }

  void addMicrobatches(const Loop &loop, std::int64_t origin, const Loop *steps) {
    add({.begin = loop.begin,
         .start = origin + loop.start,
         .trips = loop.trips,
         .period = loop.period,
         .steps = steps,
         .loop = &loop},
        loop.end);
  }

  const Program &program;
  const Loop *next, *const end;
  std::vector<Stretch> stretches;
};

} // namespace

std::optional<LoopMisfit> findLoopMisfit(const Program &program) {
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
    if (behind != loop + 1 && advancesOutsideOfInner(program, loop, behind))
      return LoopMisfit{loop, "advances microbatches and holds another one"};
    loop = behind;
  }
  return std::nullopt;
}

std::vector<Stretch> stretchesOf(const Program &program) { return Cutting(program).run(); }

} // namespace vime::plan
