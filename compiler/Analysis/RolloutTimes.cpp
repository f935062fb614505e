#include "compiler/Analysis/RolloutTimes.h"

#include <algorithm>

#include "compiler/Analysis/StepBody.h"

namespace vime {

using plan::Opcode;

void RolloutMarks::see(const Seen &action) {
  const auto first = [](std::int64_t &mark, std::int64_t time) {
    mark = mark == kNever ? time : std::min(mark, time);
  };
  switch (action.opcode) {
  case Opcode::Pause:
    return first(paused, action.begin);
  case Opcode::Resume:
    resumed = std::max(resumed, action.end);
    return;
  case Opcode::DrawPrompts:
    return first(drawn, action.begin);
  case Opcode::Generate:
    generated = std::max(generated, action.end);
    return;
  case Opcode::Score:
    scored = std::max(scored, action.end);
    return;
  case Opcode::Pack: // behind the score, on the same thread
    if (drawn != kNever)
      scored = std::max(scored, action.begin);
    return;
  case Opcode::LoadRound:
    loaded = std::max(loaded, action.end);
    return;
  default:
    return;
  }
}

RolloutTimes RolloutMarks::times(std::int64_t begin) const {
  RolloutTimes times;
  if (!hasLoaded())
    return times;
  const auto between = [](std::int64_t from, std::int64_t to) {
    return from == kNever || to == kNever ? 0 : std::max<std::int64_t>(0, to - from);
  };
  times.sync = between(paused, resumed);
  times.generation = between(drawn, generated);
  if (drawn != kNever)
    times.scoring = between(generated, scored);
  times.rest =
      std::max<std::int64_t>(0, loaded - begin - times.sync - times.generation - times.scoring);
  return times;
}

RolloutMarks rolloutMarksOf(const verify::ActionTable &table, const Simulated &run) {
  RolloutMarks marks;
  if (table.plan().mesh.engines == 0)
    return marks;
  for (const verify::RankView &rank : table.ranks()) {
    const auto [first, end] = stepEntriesOf(rank);
    for (std::uint32_t entry = first; entry < end; ++entry) {
      const ActionTimes &times = run.times[entry];
      marks.see({static_cast<Opcode>(table.action(rank, entry).opcode), times.begin, times.end});
    }
  }
  return marks;
}

RolloutTimes rolloutTimesOf(const verify::ActionTable &table, const Simulated &run) {
  return rolloutMarksOf(table, run).times(run.stepEnd - run.period);
}

} // namespace vime
