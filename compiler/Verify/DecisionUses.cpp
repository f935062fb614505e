#include "compiler/Verify/DecisionUses.h"

namespace vime::verify {

using namespace plan;

namespace {

/// Where the body of the loop over steps around an action begins; 0 outside of loops.
std::uint32_t bodyBegin(const Program &program, std::uint32_t action) {
  for (const Loop &loop : program.loops) // parents before children
    if (loop.begin <= action && action < loop.end)
      return loop.begin;
  return 0;
}

} // namespace

const Case *caseAround(const Program &program, std::uint32_t action) {
  for (const Case &one : program.cases)
    if (one.begin <= action && action < one.end)
      return &one;
  return nullptr;
}

std::vector<DecisionUse> decisionUsesOf(const Program &program) {
  using enum DecisionUse::Kind;
  std::vector<DecisionUse> uses;
  auto next = program.cases.begin();
  for (std::uint32_t action = 0; action < program.actions.size(); ++action) {
    if (next != program.cases.end() && next->begin == action) {
      if (next->condition != 0)
        uses.push_back({Case, next->condition, action, bodyBegin(program, action), nullptr});
      ++next;
    }
    if (const std::uint8_t guard = program.actions[action].guard; guard != 0)
      uses.push_back(
          {Guard, guard, action, bodyBegin(program, action), caseAround(program, action)});
  }
  for (const Loop &loop : program.loops) {
    if (loop.until != 0)
      uses.push_back({Until, loop.until, loop.end, loop.begin, nullptr});
    if (loop.perTrip != 0)
      uses.push_back(
          {Trips, 0, loop.begin, bodyBegin(program, loop.begin), caseAround(program, loop.begin)});
  }
  return uses;
}

} // namespace vime::verify
