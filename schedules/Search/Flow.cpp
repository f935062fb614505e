// A flow: the passes that every microbatch takes through the ranks.
#include "schedules/Search/Flow.h"
#include "schedules/UnitTime.h"

#include <algorithm>

namespace vime {

namespace {

enum Kind { kForward, kInput, kWeight };

std::size_t passOf(int stage, Kind kind) {
  return static_cast<std::size_t>(stage * kPassesOfStage + static_cast<int>(kind));
}

Kind kindOf(TaskKind kind) {
  return kind == TaskKind::Forward ? kForward : kind == TaskKind::BackwardInput ? kInput : kWeight;
}

void connect(Flow &flow, std::size_t from, std::size_t to, std::int64_t hop) {
  Pass &needed = flow.passes[from], &needing = flow.passes[to];
  const std::size_t need = needing.needs[0] < 0 ? 0 : 1, feed = needed.feeds[0] < 0 ? 0 : 1;
  needing.needs[need] = static_cast<int>(from);
  needing.hops[need] = hop;
  needed.feeds[feed] = static_cast<int>(to);
}

} // namespace

Flow flowOf(ScheduleShape shape, Placement placement, int memory) {
  const auto &[forward, input, weight, transfer] = shape.costs;
  Flow flow{std::move(placement), shape.ranks, shape.microbatches, memory, {}};
  const int stages = static_cast<int>(flow.placement.size());
  for (const int rank : flow.placement) {
    flow.passes.push_back({.rank = rank, .duration = forward, .holds = 1});
    flow.passes.push_back({.rank = rank, .duration = input});
    flow.passes.push_back({.rank = rank, .duration = weight, .holds = -1});
  }
  for (int stage = 0; stage < stages; ++stage) {
    if (stage + 1 < stages) {
      const auto low = static_cast<std::size_t>(stage);
      const int hop = flow.placement[low] == flow.placement[low + 1] ? 0 : transfer;
      connect(flow, passOf(stage, kForward), passOf(stage + 1, kForward), hop);
      connect(flow, passOf(stage + 1, kInput), passOf(stage, kInput), hop);
    } else {
      connect(flow, passOf(stage, kForward), passOf(stage, kInput), 0);
    }
    connect(flow, passOf(stage, kInput), passOf(stage, kWeight), 0);
  }
  return flow;
}

Flow reversed(const Flow &flow) {
  Flow result = flow;
  for (Pass &pass : result.passes) {
    pass.needs = pass.feeds = {-1, -1};
    pass.holds = -pass.holds;
  }
  for (std::size_t pass = 0; pass < flow.passes.size(); ++pass)
    for (std::size_t need = 0; need < 2; ++need)
      if (flow.passes[pass].needs[need] >= 0)
        connect(result, pass, static_cast<std::size_t>(flow.passes[pass].needs[need]),
                flow.passes[pass].hops[need]);
  return result;
}

std::int64_t workPerMicrobatch(const Flow &flow) {
  std::vector<std::int64_t> work(static_cast<std::size_t>(flow.ranks));
  for (const Pass &pass : flow.passes)
    work[static_cast<std::size_t>(pass.rank)] += pass.duration;
  return *std::max_element(work.begin(), work.end());
}

Times startsWhenAlone(const Flow &flow) {
  Times starts(flow.passes.size(), 0);
  const auto settle = [&](std::size_t pass) {
    for (std::size_t need = 0; need < 2; ++need)
      if (const int index = flow.passes[pass].needs[need]; index >= 0) {
        const auto needed = static_cast<std::size_t>(index);
        starts[pass] = std::max(starts[pass], starts[needed] + flow.passes[needed].duration +
                                                  flow.passes[pass].hops[need]);
      }
  };
  const int stages = static_cast<int>(flow.placement.size());
  for (int stage = 0; stage < stages; ++stage)
    settle(passOf(stage, kForward));
  for (int stage = stages - 1; stage >= 0; --stage)
    settle(passOf(stage, kInput)), settle(passOf(stage, kWeight));
  return starts;
}

Timing timed(const Flow &flow, Times start) {
  const auto ranks = static_cast<std::size_t>(flow.ranks);
  Timing timing{std::move(start)};
  std::vector<std::int64_t> first(ranks, INT64_MAX), last(ranks, 0);
  for (std::size_t pass = 0; pass < flow.passes.size(); ++pass) {
    const auto rank = static_cast<std::size_t>(flow.passes[pass].rank);
    first[rank] = std::min(first[rank], timing.start[flow.at(pass, 0)]);
    last[rank] = std::max(last[rank], timing.start[flow.at(pass, flow.microbatches - 1)] +
                                          flow.passes[pass].duration);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    timing.makespan = std::max(timing.makespan, last[rank]);
    timing.span = std::max(timing.span, last[rank] - first[rank]);
    timing.spans += last[rank] - first[rank];
  }
  return timing;
}

Timing mirrored(const Flow &flow, const Timing &timing) {
  Timing result = timing;
  for (std::size_t pass = 0; pass < flow.passes.size(); ++pass)
    for (int microbatch = 0; microbatch < flow.microbatches; ++microbatch)
      result.start[flow.at(pass, microbatch)] =
          timing.makespan - flow.passes[pass].duration -
          timing.start[flow.at(pass, flow.microbatches - 1 - microbatch)];
  return result;
}

Schedule orderOf(const Flow &flow, const Timing &timing) {
  constexpr TaskKind kTasks[] = {TaskKind::Forward, TaskKind::BackwardInput,
                                 TaskKind::BackwardWeight};
  Schedule order{flow.placement,
                 std::vector<std::vector<Task>>(static_cast<std::size_t>(flow.ranks))};
  std::vector<std::vector<std::pair<std::int64_t, Task>>> rows(order.rows.size());
  for (std::size_t pass = 0; pass < flow.passes.size(); ++pass)
    for (int microbatch = 0; microbatch < flow.microbatches; ++microbatch)
      rows[static_cast<std::size_t>(flow.passes[pass].rank)].push_back(
          {timing.start[flow.at(pass, microbatch)],
           {kTasks[pass % kPassesOfStage], static_cast<int>(pass) / kPassesOfStage, microbatch}});
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    std::sort(rows[rank].begin(), rows[rank].end(),
              [](const auto &left, const auto &right) { return left.first < right.first; });
    for (const auto &[start, task] : rows[rank])
      order.rows[rank].push_back(task);
  }
  return order;
}

Timing timingOf(const Flow &flow, const Schedule &order, UnitCosts costs) {
  const UnitTimes times = simulate(order, costs);
  Times start(flow.size());
  for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
    for (std::size_t place = 0; place < order.rows[rank].size(); ++place)
      if (const Task &task = order.rows[rank][place]; task.kind != TaskKind::Idle)
        start[flow.at(passOf(task.stage, kindOf(task.kind)), task.microbatch)] =
            times.start[rank][place];
  return timed(flow, std::move(start));
}

} // namespace vime
