#include "compiler/Verify/Choices.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/LongCases.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Mesh.h"
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
         (decision == Decision::Save && isPostValidated(plan)) || // it asks for `settle`
         hasCaseOn(plan, decision);
}

} // namespace

bool runs(const Plan &plan, const Case &one, const Choice &choice) {
  if (one.condition == 0)
    return true;
  const Condition &condition = plan.conditions[one.condition - 1];
  return holds(condition, choice.of(condition.decision));
}

namespace {

/// Whether they leave the same actions, if trips follow the step in long loops only.
bool alike(const Plan &plan, const Choice &one, const Choice &other) {
  const auto shown = [&](const Choice &choice) {
    auto values = choice.values;
    values[static_cast<std::size_t>(Decision::Microbatches)] -= choice.hidden;
    return values;
  };
  const std::vector<Case> &cases = programOf(plan, 0)->cases;
  return !one.shortened.empty() && one.shortened.size() == other.shortened.size() &&
         shown(one) == shown(other) && one.hiddenEvaluated == other.hiddenEvaluated &&
         std::all_of(cases.begin(), cases.end(), [&](const Case &each) {
           return runs(plan, each, one) == runs(plan, each, other);
         });
}

/// What is followed by something else than the next step is settled before that.
bool isPossible(const Plan &plan, const Choice &choice) {
  const bool isFollowed = choice.of(Decision::Evaluate) != 0 || choice.of(Decision::Save) != 0;
  const bool asksPrompts = hasRounds(plan) && choice.of(Decision::Evaluate) != 0;
  const bool mayNotAsk = asksPrompts && valuesOf(plan, Decision::Evaluate).front() == 0;
  if (mayNotAsk && !valuesOf(plan, Decision::Rollout).empty() && choice.of(Decision::Rollout) == 0)
    return false; // held-out prompts are asked where a round begins
  return !isPostValidated(plan) || !isFollowed || choice.of(Decision::Settle) != 0;
}

/// All of them, each number of microbatches by itself.
std::vector<Choice> plainChoicesOf(const Plan &plan) {
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
  std::erase_if(choices, [&](const Choice &choice) { return !isPossible(plan, choice); });
  return choices;
}

} // namespace

Choice wholeStepOf(const Plan &plan) { return plainChoicesOf(plan).front(); }

std::vector<Choice> choicesOf(const Plan &plan) {
  std::vector<Choice> plain = plainChoicesOf(plan);
  if (plain.size() > kMaxChoices)
    return plain; // cut off: what is behind may be like none of these
  const LongCases cases = longCasesOf(plan);
  std::vector<Choice> different;
  for (Choice &choice : plain) {
    cases.shorten(plan, choice);
    if (cases.doOthersDiffer ||
        std::none_of(different.begin(), different.end(),
                     [&](const Choice &other) { return alike(plan, other, choice); }))
      different.push_back(std::move(choice));
  }
  return different;
}

std::vector<std::uint32_t> tripsOf(const Plan &plan, const Program &program, const Choice &choice) {
  std::vector<std::uint32_t> trips;
  for (const Loop &loop : program.loops) {
    const auto own = plan::tripsOf(loop, plan.data.microbatches, choice.of(Decision::Microbatches));
    trips.push_back(own.value_or(loop.trips));
    for (const ShortenedLoop &shortened : choice.shortened)
      if (shortened.loop == loop.id)
        trips.back() = shortened.trips;
  }
  return trips;
}

Unrolled unrolledBy(const Plan &plan, const Choice &choice) {
  Unrolled result;
  for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank) {
    const Program &program = *programOf(plan, rank);
    std::uint32_t pieces = 0;
    for (const Stretch &stretch : stretchesOf(program, tripsOf(plan, program, choice)))
      if (!stretch.within || runs(plan, *stretch.within, choice)) {
        result.entries += std::uint64_t{stretch.end - stretch.begin} * stretch.trips;
        result.trips = std::max(result.trips, stretch.trips);
        ++pieces;
      }
    result.pieces = std::max(result.pieces, pieces);
  }
  return result;
}

std::uint64_t countEdges(const Plan &plan) {
  std::uint64_t edges = 0;
  for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank)
    edges += programOf(plan, rank)->loops.size() + programOf(plan, rank)->cases.size();
  return edges;
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
