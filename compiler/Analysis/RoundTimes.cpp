#include "compiler/Analysis/RoundTimes.h"

#include "runtime/Plan/Decisions.h"

namespace vime {

void addStep(const StepReport &step, std::int64_t times, RoundTimes &round) {
  round.period += times * step.period;
  round.rollout.sync += times * step.rollout.sync;
  round.rollout.generation += times * step.rollout.generation;
  round.rollout.scoring += times * step.rollout.scoring;
  round.rollout.rest += times * step.rollout.rest;
  for (const RankReport &rank : step.ranks) {
    RoleTimes &role = rank.isEngine ? round.engines : round.trainers;
    role.busy += times * rank.busy;
    role.other += times * rank.idle.otherRole;
    if (rank.isEngine)
      role.sync += times * rank.idle.communication;
    else
      role.idle += times * (rank.idle.all() - rank.idle.otherRole);
  }
}

void finishRound(const StepReport &first, RoundTimes &round) {
  round.trainers.ranks = trainersOf(first);
  round.engines.ranks = static_cast<std::int64_t>(first.ranks.size()) - round.trainers.ranks;
  round.training = round.period - round.rollout.all();
  if (round.training > 0)
    round.bubble = static_cast<double>(round.trainers.idle) /
                   static_cast<double>(round.training * round.trainers.ranks);
}

bool beginsRound(const verify::ActionTable &table) {
  const plan::Plan &plan = table.plan();
  return plan.mesh.engines != 0 && (plan::valuesOf(plan, plan::Decision::Rollout).empty() ||
                                    table.choice().of(plan::Decision::Rollout) == 1);
}

RoundTimes roundOf(const plan::Plan &plan, const StepReport &first, const StepReport &later) {
  RoundTimes round{.steps = plan.round.rollout.steps};
  addStep(first, 1, round);
  if (round.steps > 1)
    addStep(later, round.steps - 1, round);
  finishRound(first, round);
  return round;
}

StepReport simulatedStep(const plan::Plan &plan, const Durations &durations, StepKind kind) {
  const verify::ActionTable table(plan, stepOf(plan, kind));
  return reportOf(table, simulate(table, durations));
}

RoundTimes simulatedRound(const plan::Plan &plan, const Durations &durations,
                          RoundMicrobatches microbatches) {
  const StepReport first =
      simulatedStep(plan, durations, {.beginsRound = true, .microbatches = microbatches.first});
  return roundOf(plan, first,
                 plan.round.rollout.steps == 1
                     ? first
                     : simulatedStep(plan, durations,
                                     {.beginsRound = false, .microbatches = microbatches.later}));
}

} // namespace vime
