#include "compiler/Verify/PassPlaces.h"

#include <algorithm>

#include "compiler/Verify/Accesses.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {

using namespace plan;

namespace {

/// A place of which it is not said yet whose its messages are.
struct Found {
  bool trains = false, evaluates = false;
  std::uint32_t moved = 0; // microbatches that its messages reach to

  /// `iterations`: the most by which its microbatch advances.
  void add(const Program &program, const Action &action, std::uint32_t iterations) {
    const Signature &signature = *signatureOf(action.opcode);
    if (!signature.perMicrobatch)
      return;
    if (signature.family != Family::Transfer)
      (isEvaluation(signature.opcode) ? evaluates : trains) = true;
    else if (program.lanes[action.lane].message.perToken != 0)
      moved = std::max(moved, action.microbatch + action.step * iterations + 1);
  }
  /// Messages are of the pass of the tasks beside them, if that has so many microbatches.
  PassPlace place(const Plan &plan) const {
    const bool isOfEither = moved > (trains      ? plan.data.microbatches
                                     : evaluates ? plan.evaluation.microbatches
                                                 : 0);
    return {trains || isOfEither, evaluates || isOfEither};
  }
};

bool hasSameCases(const Program &one, const Program &other) {
  return std::equal(
      one.cases.begin(), one.cases.end(), other.cases.begin(), other.cases.end(),
      [](const Case &mine, const Case &its) { return mine.condition == its.condition; });
}

} // namespace

std::optional<PassPlaces> passPlacesOf(const Plan &plan) {
  const Program &first = *programOf(plan, 0);
  std::vector<Found> cases(first.cases.size());
  Found outside;
  for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank) {
    const Program &program = *programOf(plan, rank);
    if (!hasSameCases(first, program))
      return std::nullopt;
    for (const Stretch &stretch : stretchesOf(program)) {
      Found &found = stretch.within ? cases[stretch.within - program.cases.data()] : outside;
      for (std::uint32_t action = stretch.begin; action < stretch.end; ++action)
        found.add(program, program.actions[action], stretch.first + stretch.trips - 1);
    }
  }
  PassPlaces places{{}, outside.place(plan)};
  for (const Found &found : cases)
    places.cases.push_back(found.place(plan));
  return places;
}

bool PassPlaces::isAlone(const Plan &plan, const Choice &choice, std::size_t caseIndex) const {
  const PassPlace &own = cases[caseIndex];
  const auto isOfSamePass = [&](const PassPlace &other) {
    return (own.trains && other.trains) || (own.evaluates && other.evaluates);
  };
  const std::vector<Case> &table = programOf(plan, 0)->cases;
  for (std::size_t index = 0; index < cases.size(); ++index)
    if (index != caseIndex && isOfSamePass(cases[index]) && runs(plan, table[index], choice))
      return false;
  return !isOfSamePass(outside);
}

} // namespace vime::verify
