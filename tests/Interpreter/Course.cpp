#include "tests/Interpreter/Course.h"

#include <algorithm>
#include <random>

#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"

namespace vime::interpreter {
namespace {

using namespace plan;

/// Nothing is decided that the plan is not made for: then it is the first value of the range. 0
/// where the plan makes no such decision.
std::uint32_t decide(const Plan &plan, Decision decision, bool wanted) {
  const auto values = valuesOf(plan, decision);
  const std::uint32_t value = wanted ? 1 : 0;
  if (values.empty() || std::find(values.begin(), values.end(), value) != values.end())
    return values.empty() ? 0 : value;
  return values[0];
}

bool skipsEmpty(const Plan &plan) {
  for (const Program &program : plan.programs)
    for (const Action &action : program.actions)
      if ((action.flags & kSkipIfEmpty) != 0)
        return true;
  return false;
}

constexpr std::uint64_t kMostSteps = 8; // no plan of the tests has more

} // namespace

Course::Course(const Plan &plan, std::uint32_t seed) : empties(skipsEmpty(plan)) {
  std::mt19937 random(seed);
  const auto counts = valuesOf(plan, Decision::Microbatches);
  const std::uint64_t steps = std::clamp<std::uint64_t>(plan.run.steps, 1, kMostSteps);
  for (std::uint32_t index = 0; index < steps; ++index) {
    Step step;
    // Every value in turn, and each with and without what can follow it.
    const std::uint32_t turn = index + seed;
    step.microbatches = counts.empty() ? plan.data.microbatches : counts[turn % counts.size()];
    step.rollout = hasRounds(plan) && index % plan.round.rollout.steps == 0;
    step.evaluate =
        decide(plan, Decision::Evaluate,
               hasRounds(plan) ? step.rollout == 1 && (turn + seed) % 4 < 2 : (turn / 2) % 2 == 0);
    step.save = decide(plan, Decision::Save, (turn / 2 + seed) % 2 == 1);
    step.stop = decide(plan, Decision::Stop, index + 1 == steps);
    step.bad = decide(plan, Decision::Bad, turn % 3 == 1);
    if (const auto verdicts = valuesOf(plan, Decision::Verdict); !verdicts.empty()) {
      step.verdict = verdicts[turn % verdicts.size()];
      step.settle = step.evaluate == 1 || step.save == 1 || step.stop == 1 || index + 1 == steps;
      step.pending = index != 0 && all.back().settle == 0;
    }
    step.evaluationStops = step.evaluate == 1 && seed % 3 == 2 && index == 2 &&
                           decide(plan, Decision::Stop, true) == 1;
    for (std::uint32_t replica = 0; replica < plan.mesh.data; ++replica) {
      const bool some = empties && random() % 2 == 0;
      const auto filledOf = [&](std::uint32_t microbatches) { // all slices or none
        const std::uint32_t whole = microbatches / plan.data.slices;
        return some ? random() % (whole + 1) * plan.data.slices : microbatches;
      };
      step.filled.push_back(filledOf(step.microbatches));
      step.filledOfText.push_back(filledOf(plan.evaluation.microbatches));
    }
    all.push_back(step);
    if (step.stop == 1 || step.evaluationStops)
      break;
  }
}

} // namespace vime::interpreter
