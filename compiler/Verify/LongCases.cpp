#include "compiler/Verify/LongCases.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/Verify/LoopedPart.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {

using namespace plan;

namespace {

constexpr std::size_t kMostLongCases = 64; // each is compared with all of the plan

bool hasUniqueLoops(const Program &program) {
  std::vector<std::uint32_t> ids;
  for (const Loop &loop : program.loops)
    ids.push_back(loop.id);
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

/// Bits of the lanes that the loops use.
std::uint64_t lanesOf(const Program &program, const LongLoops &loops) {
  std::uint64_t lanes = 0;
  for (const Loop &loop : program.loops)
    if (std::any_of(loops.loops.begin(), loops.loops.end(),
                    [&](const Loop *one) { return one->id == loop.id; }))
      for (std::uint32_t action = loop.begin; action < loop.end; ++action)
        lanes |= std::uint64_t{1} << program.actions[action].lane;
  return lanes;
}

/// Whether the channels that the loops use are empty when the case starts: others are as empty
/// behind a case as in front of it (D4).
bool startsQuiet(const Plan &plan, std::size_t caseIndex, const LongLoops &loops) {
  std::map<ChannelKey, std::int64_t> under; // messages under way
  for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank) {
    const Program &program = *programOf(plan, rank);
    const std::uint64_t lanes = lanesOf(program, loops);
    for (const Stretch &stretch : stretchesOf(program))
      if (!stretch.within && stretch.end <= program.cases[caseIndex].begin)
        for (std::uint32_t index = stretch.begin; index < stretch.end; ++index) {
          const std::uint8_t lane = program.actions[index].lane;
          if ((lanes >> lane & 1) != 0)
            if (const auto end = endOf(plan, rank, program.lanes[lane]))
              under[end->channel] += (end->sends ? 1 : -1) * std::int64_t{stretch.trips};
        }
  }
  return std::all_of(under.begin(), under.end(),
                     [](const auto &channel) { return channel.second == 0; });
}

/// Whether a loop that is none of these has other trips in other steps.
bool doOthersDiffer(const Program &program, const std::vector<LongCase> &cases) {
  std::vector<std::uint32_t> known;
  for (const LongCase &one : cases)
    for (const Loop *loop : one.found.loops)
      known.push_back(loop->id);
  std::sort(known.begin(), known.end());
  return std::any_of(program.loops.begin(), program.loops.end(), [&](const Loop &loop) {
    return loop.perTrip != 0 && !std::binary_search(known.begin(), known.end(), loop.id);
  });
}

/// Of each loop in this choice; none if one of them is not made for it.
std::vector<std::uint32_t> tripsOf(const Plan &plan, const LongLoops &loops, const Choice &choice) {
  std::vector<std::uint32_t> trips;
  for (const Loop *loop : loops.loops)
    if (const auto own =
            plan::tripsOf(*loop, plan.data.microbatches, choice.of(Decision::Microbatches)))
      trips.push_back(*own);
    else
      return {};
  return trips;
}

} // namespace

LongCases longCasesOf(const Plan &plan) {
  const auto places = passPlacesOf(plan);
  std::vector<const Program *> programs;
  for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank)
    programs.push_back(programOf(plan, rank));
  if (!places || !std::all_of(programs.begin(), programs.end(),
                              [](const Program *one) { return hasUniqueLoops(*one); }))
    return {};
  LongCases result{{}, *places};
  for (std::size_t index = 0; index < places->cases.size(); ++index) {
    const PassPlace &place = places->cases[index];
    if (!place.isOfOnePass())
      continue;
    auto loops = longLoopsOf(
        plan, index, place.evaluates ? plan.evaluation.microbatches : plan.data.microbatches);
    if (loops && result.cases.size() < kMostLongCases && startsQuiet(plan, index, *loops))
      result.cases.push_back({index, std::move(*loops)});
  }
  result.doOthersDiffer = std::any_of(programs.begin(), programs.end(), [&](const Program *one) {
    return doOthersDiffer(*one, result.cases);
  });
  return result;
}

void LongCases::shorten(const Plan &plan, Choice &choice) const {
  for (const auto &[index, found] : cases) {
    const auto trips = tripsOf(plan, found, choice);
    const auto least = std::min_element(trips.begin(), trips.end());
    if (least == trips.end() || *least <= found.enough ||
        !runs(plan, programOf(plan, 0)->cases[index], choice) ||
        !places.isAlone(plan, choice, index))
      continue;
    const std::uint32_t left = *least - found.enough;
    (places.cases[index].evaluates ? choice.hiddenEvaluated : choice.hidden) +=
        left * found.advance;
    for (std::size_t loop = 0; loop < trips.size(); ++loop)
      choice.shortened.push_back(
          {found.loops[loop]->id, trips[loop] - left, left * found.loops[loop]->period});
  }
}

} // namespace vime::verify
