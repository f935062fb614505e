#include "compiler/Analysis/TracedRounds.h"

#include <algorithm>
#include <map>

#include "compiler/Analysis/Measured.h"
#include "compiler/Analysis/TracedSteps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Mesh.h"

namespace vime {

using namespace plan;
using trace::RankTrace;
using trace::TracedAction;

namespace {

/// A step as all ranks have traced it.
struct StepSeen {
  RolloutMarks marks;
  std::int64_t end = 0; // the last thing that a rank which trains did itself
  std::vector<std::int64_t> generation;
  bool isPlain = true; // neither evaluates nor saves
  std::size_t ranks = 0;
};

bool isBesideTraining(Opcode opcode) {
  return isEvaluation(opcode) || opcode == Opcode::DrawEvaluation || opcode == Opcode::Snapshot;
}

void look(const Plan &plan, const Program &program, const RankTrace &trace,
          const TracedAction &traced, StepSeen &step) {
  if (traced.microbatch == trace::kNoMicrobatch)
    return;
  const Action &action = program.actions[traced.action];
  const auto opcode = static_cast<Opcode>(action.opcode);
  step.marks.see({opcode, traced.begin, traced.end});
  step.isPlain = step.isPlain && !isBesideTraining(opcode);
  if (plan.mesh.isEngine(trace.rank)) {
    if (opcode == Opcode::Generate)
      step.generation[trace.rank - plan.mesh.trainers()] += traced.end - traced.begin;
  } else if (runsOnDispatcher(program.lanes[action.lane].kind)) {
    step.end = std::max(step.end, traced.end);
  }
}

std::map<std::uint32_t, StepSeen> stepsSeen(const Plan &plan,
                                            const std::vector<RankTrace> &traces) {
  std::map<std::uint32_t, StepSeen> steps;
  for (const RankTrace &trace : traces) {
    const Program &program = plan.programs[plan.programOf[representativeOf(plan.mesh, trace.rank)]];
    StepSeen *step = nullptr;
    std::uint32_t number = 0;
    for (const TracedAction &action : trace.actions) {
      if (!step || action.step != number) {
        step = &steps[number = action.step];
        step->generation.resize(plan.mesh.engines);
        ++step->ranks;
      }
      look(plan, program, trace, action, *step);
    }
  }
  std::erase_if(steps, [&](const auto &step) { return step.second.ranks != traces.size(); });
  return steps;
}

std::size_t countOf(const Plan &plan, const std::vector<RankTrace> &traces, StepKind kind) {
  const verify::ActionTable table(plan, stepOf(plan, kind));
  std::size_t count = 0;
  for (const std::uint32_t step : stepsOf(traces.front()))
    count += !stepOf(table, traces, step).empty();
  return count;
}

} // namespace

std::vector<TracedRound> tracedRounds(const Plan &plan, const std::vector<RankTrace> &traces) {
  std::vector<TracedRound> rounds;
  if (std::ranges::any_of(traces, [](const RankTrace &trace) { return trace.lost != 0; }))
    return rounds;
  const auto steps = stepsSeen(plan, traces);
  const std::uint32_t length = plan.round.rollout.steps;
  for (const auto &[first, seen] : steps) {
    if (first % length != 0 || first == 0)
      continue;
    TracedRound round{.round = first / length, .generation = seen.generation};
    auto before = steps.find(first - 1);
    bool isWhole = before != steps.end();
    for (std::uint32_t number = first; isWhole && number < first + length; ++number) {
      const auto step = steps.find(number);
      isWhole = step != steps.end() && step->second.isPlain;
      if (!isWhole)
        break;
      const RolloutTimes times = step->second.marks.times(before->second.end);
      round.rollout.sync += times.sync;
      round.rollout.generation += times.generation;
      round.rollout.scoring += times.scoring;
      round.rollout.rest += times.rest;
      round.period += step->second.end - before->second.end;
      before = step;
    }
    if (isWhole)
      rounds.push_back(std::move(round));
  }
  return rounds;
}

TracedRound medianOf(const std::vector<TracedRound> &rounds) {
  const auto middle = [&](auto numberOf) {
    std::vector<std::int64_t> numbers;
    for (const TracedRound &round : rounds)
      numbers.push_back(numberOf(round));
    return median(std::move(numbers));
  };
  TracedRound found{.period = middle([](const TracedRound &one) { return one.period; })};
  for (const auto part : {&RolloutTimes::sync, &RolloutTimes::generation, &RolloutTimes::scoring,
                          &RolloutTimes::rest})
    found.rollout.*part = middle([part](const TracedRound &one) { return one.rollout.*part; });
  for (std::size_t engine = 0; engine < rounds.front().generation.size(); ++engine)
    found.generation.push_back(
        middle([engine](const TracedRound &one) { return one.generation[engine]; }));
  return found;
}

std::optional<StepKind> tracedKindOf(const Plan &plan, const std::vector<RankTrace> &traces,
                                     bool beginsRound) {
  const StepKind steady{.beginsRound = beginsRound};
  if (countOf(plan, traces, steady) != 0 && plan.mesh.engines == 0)
    return steady;
  std::optional<StepKind> found;
  std::size_t most = 0;
  const auto values = valuesOf(plan, Decision::Microbatches);
  for (const std::uint32_t microbatches :
       values.empty() ? std::vector<std::uint32_t>{0}
                      : std::vector<std::uint32_t>(values.begin(), values.end())) {
    const StepKind kind{beginsRound, microbatches};
    if (const std::size_t count = countOf(plan, traces, kind); count > most) {
      most = count;
      found = kind;
    }
  }
  return found;
}

} // namespace vime
