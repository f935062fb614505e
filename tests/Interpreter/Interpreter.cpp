#include "tests/Interpreter/Interpreter.h"

#include <algorithm>

#include "runtime/Plan/CheckPlan.h"
#include "tests/Interpreter/Machine.h"

namespace vime::interpreter {

std::string_view nameOf(Fault fault) {
  constexpr std::string_view kNames[] = {"right", "unreadable", "meeting", "clock", "decision",
                                         "race",  "stuck",      "tasks",   "wrong"};
  return kNames[static_cast<std::size_t>(fault)];
}

std::uint32_t coursesOf(const plan::Plan &plan) { return plan.decisions.empty() ? 1 : 3; }

Verdict judge(const plan::Plan &plan, std::uint32_t courses) {
  if (const Status status = plan::checkPlan(plan); !status.ok())
    return {Fault::Unreadable, status.message()};
  for (std::uint32_t seed = 0; seed < courses; ++seed) {
    Terms terms;
    const Course course(plan, seed);
    if (Verdict verdict = Machine(plan, course, terms, std::nullopt).run();
        verdict.fault != Fault::None)
      return verdict;
  }
  return {};
}

Verdict wander(const plan::Plan &plan, std::uint32_t course, std::uint32_t seed) {
  if (const Status status = plan::checkPlan(plan); !status.ok())
    return {Fault::Unreadable, status.message()};
  Terms terms;
  const Course chosen(plan, course);
  return Machine(plan, chosen, terms, seed).run();
}

} // namespace vime::interpreter
