#include "compiler/Verify/Choices.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Names.h"

namespace vime::verify {

using namespace plan;

namespace {

bool hasCaseOn(const Plan &plan, Decision decision) {
  return std::any_of(plan.programs.begin(), plan.programs.end(), [&](const Program &program) {
    return std::any_of(program.cases.begin(), program.cases.end(), [&](const Case &one) {
      return one.condition != 0 && plan.conditions[one.condition - 1].decision == decision;
    });
  });
}

/// Whether it changes which actions run, or what is asked of them.
bool isChosen(const Plan &plan, Decision decision) {
  return decision == Decision::Microbatches || decision == Decision::Evaluate ||
         hasCaseOn(plan, decision);
}

} // namespace

bool runs(const Plan &plan, const Case &one, const Choice &choice) {
  if (one.condition == 0)
    return true;
  const Condition &condition = plan.conditions[one.condition - 1];
  return holds(condition, choice.of(condition.decision));
}

std::vector<Choice> choicesOf(const Plan &plan) {
  std::vector<Choice> choices(1);
  for (const auto &[decision, values] : plan.decisions) {
    const auto end = isChosen(plan, decision) ? values.rend() : values.rbegin() + 1;
    std::vector<Choice> longer;
    for (const Choice &choice : choices)
      for (auto value = values.rbegin(); value != end && longer.size() <= kMaxChoices; ++value) {
        longer.push_back(choice);
        longer.back().values[static_cast<std::size_t>(decision)] = *value;
      }
    choices = std::move(longer);
  }
  return choices;
}

std::string describe(const Plan &plan, const Choice &choice) {
  std::string text;
  for (const auto &[decision, values] : plan.decisions)
    if (isChosen(plan, decision))
      text +=
          fmt::format("{}{} = {}", text.empty() ? "" : ", ", wordOf(decision), choice.of(decision));
  return text;
}

} // namespace vime::verify
