#include "runtime/Plan/Decisions.h"

#include <algorithm>

namespace vime::plan {

std::span<const std::uint32_t> valuesOf(const Plan &plan, Decision decision) {
  for (const DecisionRange &range : plan.decisions)
    if (range.decision == decision)
      return range.values;
  return {};
}

bool holds(const Condition &condition, std::uint32_t value) {
  switch (condition.comparison) {
  case Comparison::Equal:
    return value == condition.value;
  case Comparison::NotEqual:
    return value != condition.value;
  case Comparison::Less:
    return value < condition.value;
  case Comparison::AtLeast:
    return value >= condition.value;
  }
  return false;
}

std::uint32_t decided(const StepHeader &header, Decision decision) {
  switch (decision) {
  case Decision::Microbatches:
    return header.microbatches;
  case Decision::Evaluate:
    return header.evaluate;
  case Decision::Save:
    return header.save;
  case Decision::Stop:
    return header.stop;
  case Decision::Pending:
    return header.pending;
  case Decision::Settle:
    return header.settle;
  case Decision::Rollout:
    return header.rollout;
  case Decision::Bad:
  case Decision::Verdict:
    break;
  }
  return 0;
}

bool isPostValidated(const Plan &plan) { return !valuesOf(plan, Decision::Verdict).empty(); }

bool drainsOnlyIfRun(const Plan &plan, const Case &one) {
  if (one.condition == 0 || !isPostValidated(plan))
    return false;
  const Condition &condition = plan.conditions[one.condition - 1];
  const auto values = valuesOf(plan, condition.decision);
  const bool isOfSteps = condition.decision == Decision::Evaluate ||
                         condition.decision == Decision::Settle ||
                         condition.decision == Decision::Verdict;
  return isOfSteps && !values.empty() && values.front() == 0 && !holds(condition, 0);
}

bool mayRun(const Plan &plan, const Case &one, std::uint32_t microbatches) {
  if (one.condition == 0)
    return true;
  const Condition &condition = plan.conditions[one.condition - 1];
  return condition.decision != Decision::Microbatches || holds(condition, microbatches);
}

std::uint32_t filledUp(const Plan &plan, std::uint32_t microbatches) {
  const auto values = valuesOf(plan, Decision::Microbatches);
  if (values.empty())
    return microbatches <= plan.data.microbatches ? plan.data.microbatches : 0;
  const auto found = std::lower_bound(values.begin(), values.end(), microbatches);
  return found == values.end() ? 0 : *found;
}

std::uint32_t mostMicrobatchesOf(const Plan &plan) {
  return std::max(plan.data.microbatches, plan.evaluation.microbatches);
}

} // namespace vime::plan
