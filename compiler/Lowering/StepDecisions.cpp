#include "compiler/Lowering/StepDecisions.h"

#include <algorithm>
#include <utility>

#include "compiler/Frontend/Microbatch.h"
#include "runtime/Plan/Decisions.h"

namespace vime {

using namespace plan;

namespace {

// Whether a step has what it may have: always, or now and then.
std::vector<std::uint32_t> nowAndThen(bool always) {
  return always ? std::vector{1u} : std::vector{0u, 1u};
}

} // namespace

bool endsEarly(const Job &job) {
  return job.evaluation.patience.value != 0 || job.evaluation.target.value > 0;
}

void nameDecisions(const Job &job, const std::vector<StepMember> &members, Plan &plan) {
  const auto name = [&](Decision decision, std::vector<std::uint32_t> values) {
    plan.decisions.push_back({decision, std::move(values)});
  };
  if (members.size() > 1 || members.front().microbatches.size() > 1) {
    std::vector<std::uint32_t> numbers;
    for (const StepMember &member : members)
      numbers.insert(numbers.end(), member.microbatches.begin(), member.microbatches.end());
    name(Decision::Microbatches, std::move(numbers));
  }
  const bool isOneStep = job.run.steps.value == 1;
  if (plan.round.evaluation.every != 0) // at the beginning of rounds
    name(Decision::Evaluate,
         nowAndThen(plan.round.rollout.steps == 1 && plan.round.evaluation.every == 1));
  else if (evaluationMicrobatches(job) != 0)
    name(Decision::Evaluate, nowAndThen(job.evaluation.every.value == 1 || isOneStep));
  if (!job.checkpoint.directory.value.empty())
    name(Decision::Save, nowAndThen(job.checkpoint.every.value == 1 || isOneStep));
  if (endsEarly(job))
    name(Decision::Stop, {0, 1});
  if (job.optimizer.commit.value == "post_validated") {
    name(Decision::Pending, {0, 1});
    name(Decision::Settle, {0, 1});
    name(Decision::Verdict, job.optimizer.clip.value > 0 ? std::vector{kStands, kClipped, kRefused}
                                                         : std::vector{kStands, kRefused});
    return;
  }
  name(Decision::Bad, {0, 1});
  if (plan.round.rollout.steps > 1)
    name(Decision::Rollout, {0, 1});
}

std::uint8_t conditionOf(Plan &plan, const Condition &wanted) {
  const auto found = std::find(plan.conditions.begin(), plan.conditions.end(), wanted);
  const auto place = static_cast<std::uint8_t>(found - plan.conditions.begin());
  if (found == plan.conditions.end())
    plan.conditions.push_back(wanted);
  return place + 1;
}

} // namespace vime
