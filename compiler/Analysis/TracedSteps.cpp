#include "compiler/Analysis/TracedSteps.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/Analysis/StepBody.h"

namespace vime {

using namespace plan;
using trace::RankTrace;
using trace::TracedAction;
using verify::ActionTable;
using verify::RankView;

namespace {

bool isInLoop(const Program &program, std::uint32_t id, std::uint32_t action) {
  const auto loop = std::ranges::find(program.loops, id, &Loop::id);
  return loop != program.loops.end() && loop->begin <= action && action < loop->end;
}

/// Of an engine only joins stand where others have their microbatches: it is told how many those
/// are before they are counted, and takes any.
bool isSame(const Program &program, std::uint32_t traced, std::uint32_t action) {
  const auto isJoin = [&](std::uint32_t one) {
    return program.actions[one].opcode == code(Opcode::Join);
  };
  return traced == action || (isJoin(traced) && isJoin(action));
}

/// For each entry of the body the action of the trace; empty if the step is not there whole.
std::vector<const TracedAction *> matched(const ActionTable &table, const RankView &rank,
                                          const RankTrace &trace, std::uint32_t step) {
  const verify::Segment *body = stepBodyOf(rank);
  if (!body)
    return {};
  std::vector<const TracedAction *> found;
  for (const TracedAction &action : // as dispatched: steps ascend
       std::ranges::equal_range(trace.actions, step, {}, &TracedAction::step))
    if (isInLoop(*rank.program, body->loop, action.action))
      found.push_back(&action);
  if (found.size() != body->end - body->first)
    return {};
  for (std::uint32_t entry = body->first; entry < body->end; ++entry)
    if (!isSame(*rank.program, found[entry - body->first]->action, table[entry].action))
      return {};
  return found;
}

} // namespace

std::vector<Transfer> transfersOf(const ActionTable &table) {
  std::vector<Transfer> transfers;
  for (const verify::Channel &channel : table.channels()) {
    if (!channel.matched)
      continue;
    const verify::LaneView &sends = table.lanes()[channel.sendLanes.front()];
    const verify::LaneView &receives = table.lanes()[channel.receiveLanes.front()];
    const auto inStep = [&](const verify::LaneView &lane) {
      std::vector<std::uint32_t> entries;
      const RankView &rank = table.ranks()[lane.rank];
      const verify::Segment *body = stepBodyOf(rank);
      for (const std::uint32_t entry : table.dispatched(lane))
        if (body && body->first <= entry && entry < body->end)
          entries.push_back(entry);
      return entries;
    };
    const auto sent = inStep(sends), received = inStep(receives);
    for (std::size_t index = 0; index < std::min(sent.size(), received.size()); ++index)
      transfers.push_back({sends.rank, receives.rank, sent[index], received[index]});
  }
  return transfers;
}

TracedStep stepOf(const ActionTable &table, const std::vector<RankTrace> &traces,
                  std::uint32_t step) {
  TracedStep found;
  for (std::size_t rank = 0; rank < table.ranks().size(); ++rank) {
    found.push_back(matched(table, table.ranks()[rank], traces[rank], step));
    if (found.back().empty())
      return {};
  }
  return found;
}

std::vector<std::uint32_t> stepsOf(const RankTrace &trace) {
  constexpr std::size_t kMostSteps = 1000;
  std::vector<std::uint32_t> steps;
  for (const TracedAction &action : trace.actions)
    if (steps.size() < kMostSteps && (steps.empty() || steps.back() != action.step))
      steps.push_back(action.step);
  return steps;
}

const TracedAction &tracedAt(const ActionTable &table, const TracedStep &step, std::size_t rank,
                             std::uint32_t entry) {
  return *step[rank][entry - stepBodyOf(table.ranks()[rank])->first];
}

StatusOr<std::vector<RankTrace>> readTraces(const std::string &folder, const ActionTable &table,
                                            std::array<std::uint64_t, 2> planId) {
  std::vector<RankTrace> traces;
  for (const RankView &rank : table.ranks()) {
    StatusOr<RankTrace> trace = trace::readTrace(folder + "/" + trace::traceNameOf(rank.rank));
    if (!trace.ok())
      return trace.status();
    if (trace->planId != planId || trace->rank != rank.rank)
      return Status(StatusCode::InvalidInput, fmt::format("`{}/{}` was traced of another plan",
                                                          folder, trace::traceNameOf(rank.rank)));
    traces.push_back(std::move(*trace));
  }
  return traces;
}

std::optional<std::uint32_t> lastStepOf(const ActionTable &table,
                                        const std::vector<RankTrace> &traces) {
  std::vector<std::uint32_t> steps = stepsOf(traces.front());
  for (; !steps.empty(); steps.pop_back())
    if (!stepOf(table, traces, steps.back()).empty())
      return steps.back();
  return std::nullopt;
}

} // namespace vime
