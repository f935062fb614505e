#include "compiler/Analysis/OrderFacts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "compiler/Analysis/Meetings.h"
#include "compiler/Analysis/StepBody.h"
#include "runtime/Plan/Decisions.h"

namespace vime {

using plan::Flow;
using plan::Opcode;
using verify::ActionTable;

namespace {

bool isBoundary(const verify::Channel &channel) {
  return channel.flow == Flow::Forward || channel.flow == Flow::Backward;
}

bool hasWholeBackwards(const Schedule &order) {
  for (const std::vector<Task> &row : order.rows)
    for (const Task &task : row)
      if (task.kind == TaskKind::Backward)
        return true;
  return false;
}

/// Halves that take together what the whole does, which the order runs. Where nobody knows what one
/// of them takes, a backward is one piece: then false.
bool halve(TaskCosts &costs) {
  bool known = true;
  for (StageCosts &stage : costs.stages) {
    known = known && (stage.backward == 0 || stage.backwardInput != 0);
    stage.backwardInput =
        stage.backwardInput == 0 ? stage.backward : std::min(stage.backwardInput, stage.backward);
    stage.backwardWeight = stage.backward - stage.backwardInput;
  }
  return known;
}

/// On the wire, of one message.
std::int64_t wireOf(const ActionTable &table, const Durations &durations,
                    const verify::Channel &channel) {
  const verify::LaneView &lane = table.lanes()[channel.sendLanes.front()];
  return wireTime(durations.link(channel.source, channel.destination),
                  bytesOf(table.plan(), table.laneOf(lane).message));
}

std::int64_t busiestWire(const ActionTable &table, const Durations &durations) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> wires;
  std::int64_t most = 0;
  for (const verify::Channel &channel : table.channels()) {
    if (!channel.matched || !isBoundary(channel))
      continue;
    const verify::LaneView &lane = table.lanes()[channel.sendLanes.front()];
    std::int64_t &busy = wires[{channel.source, channel.destination}];
    busy += wireOf(table, durations, channel) *
            static_cast<std::int64_t>(table.dispatched(lane).size());
    most = std::max(most, busy);
  }
  return most;
}

} // namespace

std::optional<TaskKind> taskOf(Opcode opcode) {
  switch (opcode) {
  case Opcode::Forward:
    return TaskKind::Forward;
  case Opcode::Backward:
    return TaskKind::Backward;
  case Opcode::BackwardInput:
    return TaskKind::BackwardInput;
  case Opcode::BackwardWeight:
    return TaskKind::BackwardWeight;
  default:
    return std::nullopt;
  }
}

TaskCosts taskCostsOf(const ActionTable &table, const Durations &durations) {
  TaskCosts costs;
  const std::size_t trained = table.plan().models.front().stages.size(); // not of a reference
  for (const OpcodeTimes &stage : std::span(durations.stages).first(trained))
    costs.stages.push_back({stage[Opcode::Forward], stage[Opcode::BackwardInput],
                            stage[Opcode::BackwardWeight], stage[Opcode::Backward]});
  costs.transfer = std::numeric_limits<std::int64_t>::max();
  for (const verify::Channel &channel : table.channels())
    if (channel.matched && isBoundary(channel))
      costs.transfer = std::min(costs.transfer,
                                durations.link(channel.source, channel.destination).latency +
                                    durations.boundaryLatency + wireOf(table, durations, channel));
  if (costs.transfer == std::numeric_limits<std::int64_t>::max())
    costs.transfer = 0; // nothing passes
  return costs;
}

Bound bindingBound(const ActionTable &table, const Bounds &bounds) {
  const Bound &steps = isPostValidated(table.plan()) ? bounds.span : bounds.makespan;
  return bounds.link > steps.least ? Bound{bounds.link, "L5"} : steps;
}

Schedule orderOf(const ActionTable &table) {
  Schedule order;
  order.slices = static_cast<int>(table.plan().data.slices);
  order.placement.resize(table.plan().models.front().stages.size());
  order.copies = static_cast<int>(table.stages().front().copies);
  for (const verify::RankView &rank : table.replica(0)) {
    for (const std::uint32_t stage : rank.stages)
      if (stage < order.placement.size())
        order.placement[stage] = static_cast<int>(order.rows.size());
    const auto [first, end] = stepEntriesOf(rank);
    std::vector<Task> &row = order.rows.emplace_back();
    for (std::uint32_t entry = first; entry < end; ++entry) {
      const plan::Action &action = table.action(rank, entry);
      if (const std::optional<TaskKind> kind = taskOf(static_cast<Opcode>(action.opcode)))
        row.push_back({*kind, static_cast<int>(rank.stages[action.stage]),
                       static_cast<int>(table.microbatch(rank, entry))});
    }
  }
  return order;
}

OrderFacts orderFactsOf(const ActionTable &table, const Durations &durations) {
  const Schedule order = orderOf(table);
  TaskCosts costs = taskCostsOf(table, durations);
  OrderFacts facts{.periods = periodsOf(order, costs)};
  if (hasWholeBackwards(order))
    facts.splits = halve(costs);
  facts.bounds = boundsOf(boundedShapeOf(order, UnitCosts{}), costs);
  facts.bounds.link = busiestWire(table, durations);
  return facts;
}

} // namespace vime
