#include "tests/Interpreter/Dispatcher.h"

#include <algorithm>
#include <utility>

#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::interpreter {

using namespace plan;

Dispatcher::Dispatcher(const Plan &plan, std::uint32_t rank, bool mayBeEmpty)
    : plan(plan), rank(rank), program(*programOf(plan, rank)), layout(*layoutOf(plan, rank)),
      mayBeEmpty(mayBeEmpty), whole(blocksOf(program)), clocks(program), frames{{.block = &whole}},
      headerWriters(program.lanes.size(), 0), scalarWriters(headerWriters) {}

std::string Dispatcher::at(std::string_view what) const {
  const std::uint32_t action = frames.empty() ? 0 : frames.back().at;
  return "rank " + std::to_string(rank) + " in front of action " + std::to_string(action) + " " +
         std::string(what);
}

std::optional<Dispatched> Dispatcher::next(const Answers &answers) {
  while (!frames.empty() && trouble.empty())
    switch (moveOn(answers)) {
    case Move::Done:
      break;
    case Move::Blocked:
      return std::nullopt;
    case Move::AtAction:
      return dispatch(answers);
    }
  return std::nullopt;
}

Dispatcher::Move Dispatcher::moveOn(const Answers &answers) {
  Frame &frame = frames.back();
  if (frame.at == frame.block->end)
    return leave(answers);
  const std::vector<Block> &inside = frame.block->inside;
  if (frame.inside < inside.size() && inside[frame.inside].begin == frame.at)
    return enter(inside[frame.inside], answers);
  return Move::AtAction;
}

bool Dispatcher::drains(const Answers &answers) {
  clocks.drain();
  return answers.isFinished(clocks.dispatcher());
}

Dispatcher::Move Dispatcher::enter(const Block &block, const Answers &answers) {
  const bool mayBeAbsent = block.one && drainsOnlyIfRun(plan, *block.one);
  if (block.one && !mayBeAbsent && !drains(answers))
    return Move::Blocked;
  const Frame outer = frames.back();
  Frame frame{.block = &block, .at = block.begin, .origin = outer.origin, .start = outer.start};
  bool runs = true;
  if (block.one && block.one->condition != 0) {
    const Condition &condition = plan.conditions[block.one->condition - 1];
    std::uint32_t value = 0;
    if (!ask(condition.decision, answers, value))
      return Move::Blocked;
    runs = holds(condition, value);
    if (runs && mayBeAbsent && !drains(answers))
      return Move::Blocked;
  }
  if (block.loop) {
    frame.trips = block.loop->trips;
    if (block.loop->perTrip != 0) {
      std::uint32_t microbatches = 0;
      if (!ask(Decision::Microbatches, answers, microbatches))
        return Move::Blocked;
      const std::uint32_t missing =
          (plan.data.microbatches - std::min(plan.data.microbatches, microbatches)) /
          block.loop->perTrip;
      frame.trips = missing < frame.trips ? frame.trips - missing : 1;
    }
    frame.origin = frame.start = outer.origin + block.loop->start;
    advanced = 0;
    if (block.overSteps)
      step = 0;
  } else {
    advanced = 0;
  }
  ++frames.back().inside;
  if (runs) {
    frames.push_back(frame);
  } else {
    // The clock goes on as if it had run.
    for (const Block &loop : block.inside)
      frames.back().start =
          outer.origin + loop.loop->start + std::int64_t{loop.loop->trips} * loop.loop->period;
    frames.back().at = block.end;
    advanced = 0;
  }
  return Move::Done;
}

Dispatcher::Move Dispatcher::leave(const Answers &answers) {
  Frame &frame = frames.back();
  const Block &block = *frame.block;
  if (!block.loop) {
    if (block.one && !drains(answers))
      return Move::Blocked;
    const std::int64_t start = frame.start;
    frames.pop_back();
    advanced = 0;
    if (!frames.empty()) {
      frames.back().start = start;
      frames.back().at = block.end;
    }
    return Move::Done;
  }
  bool ends = frame.trip + 1 >= frame.trips;
  if (block.loop->until != 0) {
    const Condition &condition = plan.conditions[block.loop->until - 1];
    std::uint32_t value = 0;
    if (!ask(condition.decision, answers, value))
      return Move::Blocked;
    ends = ends || holds(condition, value);
    if (ends && !drains(answers))
      return Move::Blocked;
  }
  if (ends) {
    leaveLoop(*block.loop);
    return Move::Done;
  }
  ++frame.trip;
  advanced = frame.trip;
  if (block.overSteps)
    step = frame.trip;
  frame.at = block.begin;
  frame.inside = 0;
  frame.origin += block.loop->period;
  frame.start = frame.origin;
  return Move::Done;
}

/// The clock goes on as if every trip had run.
void Dispatcher::leaveLoop(const Loop &loop) {
  const Frame left = frames.back();
  frames.pop_back();
  Frame &outer = frames.back();
  const std::uint32_t trips = left.block->overSteps ? loop.trips : left.trips;
  outer.at = loop.end;
  outer.start = outer.origin + loop.start + std::int64_t{trips} * loop.period;
  advanced = outer.block == &whole ? 0 : trips;
}

bool Dispatcher::knows(const Clock &clock, const Clock &writers) {
  bool any = false;
  for (std::size_t lane = 0; lane < writers.size(); ++lane) {
    any = any || writers[lane] != 0;
    if (clock[lane] < writers[lane])
      return false;
  }
  return any;
}

/// False: not yet, or never, and then it is a fault.
bool Dispatcher::ask(Decision decision, const Answers &answers, std::uint32_t &value) {
  if (!knows(clocks.dispatcher(), isOfScalars(decision) ? scalarWriters : headerWriters)) {
    trouble = at("asks for a decision that need not be there");
    return false;
  }
  if (!answers.isFinished(clocks.dispatcher()))
    return false;
  value = answers.decided(decision);
  return true;
}

/// The dispatcher looks at the header, or the scalars, as soon as the action itself may start.
bool Dispatcher::judgeQuestions(const Action &action) {
  const Signature &signature = *findSignature(action.opcode);
  const Lane &lane = program.lanes[action.lane];
  asksSize = (signature.family == Family::Transfer && lane.message.perToken != 0) ||
             ((action.flags & kSkipIfEmpty) != 0 && runsOnDispatcher(lane.kind));
  if (asksSize && !knows(clocks.beforeLatest(), headerWriters))
    trouble = at("asks a step header that need not be there for tokens");
  if (action.guard != 0) {
    const Decision decision = plan.conditions[action.guard - 1].decision;
    if (!knows(clocks.beforeLatest(), isOfScalars(decision) ? scalarWriters : headerWriters))
      trouble = at("is guarded by a decision that need not be there");
  }
  return trouble.empty();
}

std::optional<Dispatched> Dispatcher::dispatch(const Answers &answers) {
  Frame &frame = frames.back();
  const Action &action = program.actions[frame.at];
  if (!pending) {
    pending = Dispatched{.action = frame.at,
                         .microbatch = action.microbatch + action.step * advanced,
                         .step = step,
                         .time = frame.start + action.time,
                         .stamp = clocks.dispatch(action)};
    if (!judgeQuestions(action))
      return std::nullopt;
  }
  const bool asks = (asksSize && mayBeEmpty) || action.guard != 0;
  if (asks && !answers.isFinished(clocks.beforeLatest()))
    return std::nullopt;
  if (action.guard != 0) {
    const Condition &condition = plan.conditions[action.guard - 1];
    pending->skipped = !holds(condition, answers.decided(condition.decision));
  }
  if (asksSize && mayBeEmpty)
    pending->empty = answers.isEmpty(pending->microbatch);
  remember(action, pending->stamp);
  ++frame.at;
  return std::exchange(pending, std::nullopt);
}

/// What the next questions are answered by.
void Dispatcher::remember(const Action &action, const Stamp &stamp) {
  const auto operands = findSignature(action.opcode)->operands;
  const Lane &lane = program.lanes[action.lane];
  const bool isRoot =
      lane.kind == LaneKind::Group &&
      memberIndex(plan.mesh, rank, plan.groups[lane.group]) == plan.groups[lane.group].root;
  for (std::size_t operand = 0; operand < operands.size(); ++operand) {
    const std::uint32_t buffer = program.operands[action.operands + operand];
    const Access access = operands[operand].access;
    if (buffer == kNoBuffer || access == Access::Read ||
        (access == Access::RootReadOthersWrite && isRoot))
      continue;
    const BufferKind kind = layout.buffers[buffer].kind;
    if (kind == BufferKind::Header)
      headerWriters[stamp.own.lane] = stamp.own.position;
    if (kind == BufferKind::Scalars)
      scalarWriters[stamp.own.lane] = stamp.own.position;
  }
}

} // namespace vime::interpreter
