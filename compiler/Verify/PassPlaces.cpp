#include "compiler/Verify/PassPlaces.h"

#include <algorithm>

#include "compiler/Verify/Accesses.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {

using namespace plan;

namespace {

/// A place of which it is not said yet whose its messages are.
struct Found {
  bool trains = false, evaluates = false, moves = false;

  void add(const Program &program, const Action &action) {
    const Signature &signature = *signatureOf(action.opcode);
    if (!signature.perMicrobatch)
      return;
    if (signature.family == Family::Transfer)
      moves = moves || program.lanes[action.lane].message.perToken != 0;
    else
      (isEvaluation(signature.opcode) ? evaluates : trains) = true;
  }
  PassPlace place() const {
    const bool isOfEither = moves && !trains && !evaluates;
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
    std::size_t next = 0; // the case at this action, or behind it
    for (std::uint32_t action = 0; action < program.actions.size(); ++action) {
      while (next < program.cases.size() && program.cases[next].end <= action)
        ++next;
      const bool isInside = next < program.cases.size() && program.cases[next].begin <= action;
      (isInside ? cases[next] : outside).add(program, program.actions[action]);
    }
  }
  PassPlaces places{{}, outside.place()};
  for (const Found &found : cases)
    places.cases.push_back(found.place());
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
