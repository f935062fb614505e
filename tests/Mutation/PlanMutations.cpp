#include "tests/Mutation/PlanMutations.h"

#include <algorithm>
#include <array>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime {
namespace {

using namespace plan;

// ---- waits ----

bool dropWait(Mutant &mutant) {
  Wait *wait = mutant.anyWait();
  if (wait)
    *wait = {};
  return wait != nullptr;
}

bool waitForAnother(Mutant &mutant) {
  Wait *wait = mutant.anyWait();
  if (!wait)
    return false;
  const int distance = wait->distance() + (mutant.coin() ? 1 : -1);
  *wait = distance > 0 ? Wait::on(wait->lane(), distance) : Wait();
  return true;
}

bool waitOnAnotherLane(Mutant &mutant) {
  Wait *wait = mutant.anyWait();
  if (wait)
    *wait = Wait::on(static_cast<int>(mutant.below(mutant.program.lanes.size())), wait->distance());
  return wait != nullptr;
}

// ---- dispatch order ----

bool swapNeighbours(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.actions.size() - 1);
  std::swap(mutant.action(index), mutant.program.actions[index + 1]);
  return true;
}

bool swapAny(Mutant &mutant) {
  Action &one = mutant.anyAction(), &other = mutant.anyAction();
  std::swap(one, other);
  return true;
}

bool moveElsewhere(Mutant &mutant) {
  const std::uint32_t count = static_cast<std::uint32_t>(mutant.program.actions.size());
  const std::uint32_t from = mutant.below(count);
  mutant.action(from);
  const std::uint32_t to =
      mutant.coin() ? mutant.below(count)
                    : std::min(count - 1, from > 3 ? from - 3 + mutant.below(7) : mutant.below(7));
  mutant.move(mutant.program, from, to);
  return true;
}

bool drop(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.actions.size());
  mutant.action(index);
  mutant.erase(mutant.program, index);
  return true;
}

bool duplicate(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.actions.size());
  const Action copy = mutant.action(index);
  mutant.insert(mutant.program,
                mutant.coin() ? index + 1 : mutant.below(mutant.program.actions.size()), copy);
  return true;
}

// ---- what an action is ----

bool retargetMicrobatch(Mutant &mutant) {
  mutant.anyAction().microbatch =
      mutant.below(std::max(mutant.plan.data.microbatches, mutant.plan.evaluation.microbatches));
  return true;
}

bool retargetStage(Mutant &mutant) {
  mutant.anyAction().stage = static_cast<std::uint16_t>(mutant.below(mutant.program.stages.size()));
  return mutant.program.stages.size() > 1;
}

bool retargetOperand(Mutant &mutant) {
  const Action &action = mutant.anyAction();
  if (action.operandCount == 0)
    return false;
  const std::uint32_t index = mutant.below(action.operandCount);
  std::uint32_t &operand = mutant.program.operands[action.operands + index];
  const std::uint32_t before = operand;
  operand = mutant.below(mutant.layout.buffers.size());
  // Half of them stay of their kind, so that the reader has nothing to say.
  const auto &buffers = mutant.layout.buffers;
  if (before != kNoBuffer && mutant.coin())
    for (std::uint32_t step = 1; step < buffers.size(); ++step) {
      const auto other = static_cast<std::uint32_t>((before + step) % buffers.size());
      if (buffers[other].kind == buffers[before].kind)
        return operand = other, true;
    }
  mutant.what += " operand " + std::to_string(index);
  return true;
}

/// Of a pool in which actions share their operands, only this one's.
bool retargetOwnOperand(Mutant &mutant) {
  Action &action = mutant.anyAction();
  if (action.operandCount == 0)
    return false;
  auto &pool = mutant.program.operands;
  const auto first = static_cast<std::uint32_t>(pool.size());
  for (std::uint32_t index = 0; index < action.operandCount; ++index)
    pool.push_back(pool[action.operands + index]);
  action.operands = first;
  const std::uint32_t index = mutant.below(action.operandCount);
  const auto &buffers = mutant.layout.buffers;
  mutant.what += " operand " + std::to_string(index);
  std::uint32_t &operand = pool[first + index];
  if (operand == kNoBuffer)
    return false;
  for (std::uint32_t step = 1; step < buffers.size(); ++step) {
    const auto other = static_cast<std::uint32_t>((operand + step) % buffers.size());
    if (buffers[other].kind == buffers[operand].kind)
      return operand = other, true;
  }
  operand = mutant.below(buffers.size());
  return true;
}

bool dropOperand(Mutant &mutant) {
  const Action &action = mutant.anyAction();
  if (action.operandCount == 0)
    return false;
  mutant.program.operands[action.operands + mutant.below(action.operandCount)] = kNoBuffer;
  return true;
}

bool relane(Mutant &mutant) {
  Action &action = mutant.anyAction();
  // Lanes of the same kind, if there are others.
  std::vector<std::uint8_t> same;
  for (std::uint32_t lane = 0; lane < mutant.program.lanes.size(); ++lane)
    if (lane != action.lane &&
        mutant.program.lanes[lane].kind == mutant.program.lanes[action.lane].kind)
      same.push_back(static_cast<std::uint8_t>(lane));
  action.lane = same.empty() || mutant.below(8) == 0
                    ? static_cast<std::uint8_t>(mutant.below(mutant.program.lanes.size()))
                    : same[mutant.below(same.size())];
  return true;
}

bool changeOpcode(Mutant &mutant) {
  Action &action = mutant.anyAction();
  const auto all = signatures();
  const Signature *before = findSignature(action.opcode);
  for (int attempt = 0; attempt < 8; ++attempt) {
    const Signature &other = all[mutant.below(all.size())];
    action.opcode = code(other.opcode);
    if (other.lane == before->lane && other.operands.size() == before->operands.size() &&
        &other != before)
      break;
  }
  return true;
}

bool flipOverwrite(Mutant &mutant) {
  std::vector<Action *> adding;
  for (Action &action : mutant.program.actions)
    if (action.opcode == code(Opcode::Backward) || action.opcode == code(Opcode::BackwardWeight))
      adding.push_back(&action);
  if (adding.empty())
    return false;
  adding[mutant.below(adding.size())]->immediate ^= kOverwriteGradients;
  return true;
}

bool flipFlag(Mutant &mutant) {
  constexpr std::array<std::uint8_t, 3> kFlags = {kSkipIfEmpty, kSkipIfEmpty, kHostBlocking};
  mutant.anyAction().flags ^= kFlags[mutant.below(kFlags.size())];
  return true;
}

bool changeStep(Mutant &mutant) {
  std::vector<Action *> moving;
  for (Action &action : mutant.program.actions)
    if (action.step != 0)
      moving.push_back(&action);
  if (moving.empty())
    return false;
  Action &action = *moving[mutant.below(moving.size())];
  action.step = static_cast<std::uint8_t>(mutant.coin() ? 0 : action.step + 1);
  return true;
}

// ---- memory ----

bool shortenRing(Mutant &mutant) {
  Buffer &buffer = mutant.anyBuffer();
  if (buffer.count < 2)
    return false;
  --buffer.count;
  return true;
}

bool lengthenRing(Mutant &mutant) {
  Buffer &buffer = mutant.anyBuffer();
  ++buffer.count;
  // Behind everything else, so that it fits.
  std::uint64_t &arena = mutant.layout.arena[static_cast<std::size_t>(buffer.tier)];
  buffer.offset = arena;
  arena += buffer.stride * buffer.count;
  return true;
}

bool shareBytes(Mutant &mutant) {
  Buffer &buffer = mutant.anyBuffer();
  const Buffer &other = mutant.anyBuffer();
  if (&buffer == &other)
    return false;
  buffer.offset = other.offset;
  return true;
}

bool resizeBuffer(Mutant &mutant) {
  Buffer &buffer = mutant.anyBuffer();
  buffer.bytes =
      mutant.coin() ? buffer.bytes + 8 : buffer.bytes - std::min<std::uint64_t>(buffer.bytes, 8);
  return true;
}

// ---- channels and groups ----

bool reshapeMessage(Mutant &mutant) {
  Lane &lane = mutant.program.lanes[mutant.below(mutant.program.lanes.size())];
  if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
    return false;
  if (mutant.below(4) == 0)
    lane.message.type =
        lane.message.type == DataType::Float32 ? DataType::BFloat16 : DataType::Float32;
  else {
    std::uint32_t &bytes = lane.message.perToken != 0 ? lane.message.perToken : lane.message.fixed;
    bytes = mutant.coin() ? bytes / 2 : bytes + 8;
  }
  return true;
}

/// At both ends.
bool reshapeChannel(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.lanes.size());
  const Lane wanted = mutant.program.lanes[index];
  if (wanted.kind != LaneKind::Send && wanted.kind != LaneKind::Receive)
    return false;
  const std::uint32_t part = mutant.below(3);
  for (Program &program : mutant.plan.programs)
    for (Lane &lane : program.lanes)
      if ((lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive) &&
          lane.flow == wanted.flow) {
        std::uint32_t &bytes =
            lane.message.perToken != 0 ? lane.message.perToken : lane.message.fixed;
        if (part == 0)
          bytes /= 2;
        else if (part == 1)
          std::swap(lane.message.perToken, lane.message.fixed);
        else
          bytes += 8;
      }
  return true;
}

bool changePeer(Mutant &mutant) {
  Lane &lane = mutant.program.lanes[mutant.below(mutant.program.lanes.size())];
  if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
    return false;
  if (mutant.coin())
    lane.peer.value =
        static_cast<int>(mutant.below(mutant.plan.mesh.pipeline)) - (mutant.coin() ? 1 : 0);
  else
    lane.flow = static_cast<Flow>(mutant.below(6));
  return true;
}

bool changeSlots(Mutant &mutant) {
  Lane &lane = mutant.program.lanes[mutant.below(mutant.program.lanes.size())];
  if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
    return false;
  lane.slots = mutant.coin() ? lane.slots + 1 : lane.slots - 1;
  return true;
}

bool changeGroup(Mutant &mutant) {
  Group &group = mutant.plan.groups[mutant.below(mutant.plan.groups.size())];
  const std::uint32_t part = mutant.below(4);
  mutant.what += " group " + group.name + ", part " + std::to_string(part);
  switch (part) {
  case 0:
    group.root = mutant.below(mutant.plan.mesh.ranks());
    break;
  case 1:
    group.axes = static_cast<std::uint8_t>(mutant.below(16));
    break;
  case 2:
    group.operation = static_cast<Collective>(mutant.below(4));
    break;
  default:
    group.message.fixed = mutant.coin() ? group.message.fixed / 2 : group.message.fixed + 8;
  }
  return true;
}

bool disconnect(Mutant &mutant) {
  auto &rounds = mutant.plan.connect;
  if (rounds.empty())
    return false;
  auto &pairs = rounds[mutant.below(rounds.size())].pairs;
  if (pairs.empty())
    return false;
  if (mutant.coin())
    pairs.erase(pairs.begin() + mutant.below(pairs.size()));
  else
    rounds.push_back({rounds[0].inEveryReplica, {pairs[mutant.below(pairs.size())]}});
  return true;
}

// ---- both ends at once ----

/// Programs whose lanes of a flow and kind, or of a group, carry the messages that this lane does.
template <typename Visit> void forEachEnd(Mutant &mutant, const Lane &lane, Visit &&visit) {
  for (Program &program : mutant.plan.programs)
    for (std::uint32_t index = 0; index < program.lanes.size(); ++index) {
      const Lane &other = program.lanes[index];
      const bool isEnd = other.kind == LaneKind::Send || other.kind == LaneKind::Receive;
      const bool same = lane.kind == LaneKind::Group
                            ? other.kind == LaneKind::Group && other.group == lane.group
                            : isEnd && other.flow == lane.flow;
      if (same)
        visit(program, index);
    }
}

std::vector<std::uint32_t> onLane(const Program &program, std::uint32_t lane) {
  std::vector<std::uint32_t> indices;
  for (std::uint32_t index = 0; index < program.actions.size(); ++index)
    if (program.actions[index].lane == lane)
      indices.push_back(index);
  return indices;
}

const Lane *anyMeetingLane(Mutant &mutant) {
  std::vector<const Lane *> lanes;
  for (const Lane &lane : mutant.program.lanes)
    if (lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive ||
        lane.kind == LaneKind::Group)
      lanes.push_back(&lane);
  return lanes.empty() ? nullptr : lanes[mutant.below(lanes.size())];
}

/// At both ends of a lane, `change(program, all, which)`: `all` the actions of the lane, `which` a
/// message among the first few.
template <typename Change> bool changeAMessage(Mutant &mutant, Change change) {
  const Lane *found = anyMeetingLane(mutant);
  if (!found)
    return false;
  const Lane lane = *found;
  const std::uint32_t which = mutant.below(4);
  forEachEnd(mutant, lane, [&](Program &program, std::uint32_t index) {
    if (const auto all = onLane(program, index); which < all.size())
      change(program, all, which);
  });
  mutant.what += " message " + std::to_string(which) + " of a lane";
  return true;
}

bool dropMessages(Mutant &mutant) {
  return changeAMessage(mutant, [&](Program &program, const auto &all, std::uint32_t which) {
    mutant.erase(program, all[which]);
  });
}

bool duplicateMessages(Mutant &mutant) {
  return changeAMessage(mutant, [&](Program &program, const auto &all, std::uint32_t which) {
    mutant.insert(program, all[which] + 1, Action(program.actions[all[which]]));
  });
}

bool swapMessages(Mutant &mutant) {
  return changeAMessage(mutant, [](Program &program, const auto &all, std::uint32_t which) {
    if (which + 1 < all.size())
      std::swap(program.actions[all[which]], program.actions[all[which + 1]]);
  });
}

bool moveMessages(Mutant &mutant) {
  const Lane *found = anyMeetingLane(mutant);
  if (!found)
    return false;
  const Lane lane = *found;
  const std::uint32_t which = mutant.below(4);
  const std::uint32_t far = mutant.below(9);
  forEachEnd(mutant, lane, [&](Program &program, std::uint32_t index) {
    const auto all = onLane(program, index);
    if (which >= all.size())
      return;
    const std::uint32_t from = all[which];
    const std::uint32_t to = from + far < 4 ? 0 : from + far - 4;
    mutant.move(program, from,
                std::min(to, static_cast<std::uint32_t>(program.actions.size() - 1)));
  });
  return true;
}

/// On every rank, whatever runs there.
bool dropEverywhere(Mutant &mutant) {
  const std::uint16_t opcode = mutant.anyAction().opcode;
  for (Program &program : mutant.plan.programs)
    for (std::uint32_t index = static_cast<std::uint32_t>(program.actions.size()); index-- > 0;)
      if (program.actions[index].opcode == opcode)
        mutant.erase(program, index);
  return true;
}

// ---- loops and decisions ----

bool changeLoop(Mutant &mutant) {
  if (mutant.program.loops.empty())
    return false;
  Loop &loop = mutant.program.loops[mutant.below(mutant.program.loops.size())];
  switch (mutant.below(5)) {
  case 0:
    loop.trips += mutant.coin() ? 1 : -1;
    break;
  case 1:
    loop.begin += mutant.coin() ? 1 : -1;
    break;
  case 2:
    loop.end += mutant.coin() ? 1 : -1;
    break;
  case 3:
    loop.perTrip = loop.perTrip == 0 ? 1 : mutant.below(3);
    break;
  default:
    loop.until = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  }
  return true;
}

/// On all ranks, so that they agree.
bool changeLoopEverywhere(Mutant &mutant) {
  if (mutant.program.loops.empty())
    return false;
  const std::uint32_t id = mutant.program.loops[mutant.below(mutant.program.loops.size())].id;
  const std::uint32_t part = mutant.below(3);
  const bool more = mutant.coin();
  const auto until = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  for (Program &program : mutant.plan.programs)
    for (Loop &loop : program.loops)
      if (loop.id == id) {
        if (part == 0)
          loop.trips += more ? 1 : -1;
        else if (part == 1)
          loop.until = until;
        else
          loop.perTrip = loop.perTrip == 0 ? 1 : 0;
      }
  return true;
}

bool changeGuard(Mutant &mutant) {
  if (mutant.plan.conditions.empty())
    return false;
  std::vector<std::uint32_t> guarded;
  for (std::uint32_t index = 0; index < mutant.program.actions.size(); ++index)
    if (mutant.program.actions[index].guard != 0)
      guarded.push_back(index);
  Action &action = !guarded.empty() && mutant.coin()
                       ? mutant.action(guarded[mutant.below(guarded.size())])
                       : mutant.anyAction();
  action.guard = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  return true;
}

/// Every action of this kind, on all ranks.
bool changeGuardEverywhere(Mutant &mutant) {
  if (mutant.plan.conditions.empty())
    return false;
  const std::uint16_t opcode = mutant.anyAction().opcode;
  const auto guard = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  for (Program &program : mutant.plan.programs)
    for (Action &action : program.actions)
      if (action.opcode == opcode)
        action.guard = guard;
  return true;
}

bool changeCase(Mutant &mutant) {
  if (mutant.program.cases.empty())
    return false;
  const std::uint32_t index = mutant.below(mutant.program.cases.size());
  Case &one = mutant.program.cases[index];
  switch (mutant.below(3)) {
  case 0:
    one.begin += mutant.coin() ? 1 : -1;
    break;
  case 1:
    one.end += mutant.coin() ? 1 : -1;
    break;
  default:
    one.condition = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  }
  return true;
}

bool changeCaseEverywhere(Mutant &mutant) {
  if (mutant.program.cases.empty())
    return false;
  const std::uint32_t index = mutant.below(mutant.program.cases.size());
  const auto condition = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  const bool dissolves = mutant.below(3) == 0;
  for (Program &program : mutant.plan.programs)
    if (index < program.cases.size()) {
      if (dissolves)
        program.cases.erase(program.cases.begin() + index);
      else
        program.cases[index].condition = condition;
    }
  return true;
}

bool changeCondition(Mutant &mutant) {
  auto &conditions = mutant.plan.conditions;
  if (conditions.empty())
    return false;
  Condition &condition = conditions[mutant.below(conditions.size())];
  switch (mutant.below(3)) {
  case 0:
    condition.value += mutant.coin() ? 1 : -1;
    break;
  case 1:
    condition.comparison = static_cast<Comparison>(mutant.below(4));
    break;
  default:
    condition.decision = static_cast<Decision>(mutant.below(5));
  }
  return true;
}

bool changeRange(Mutant &mutant) {
  auto &decisions = mutant.plan.decisions;
  if (decisions.empty())
    return false;
  DecisionRange &range = decisions[mutant.below(decisions.size())];
  mutant.what += " values of decision " + std::to_string(static_cast<int>(range.decision));
  if (mutant.coin())
    range.values.erase(range.values.begin() + mutant.below(range.values.size()));
  else
    range.values[mutant.below(range.values.size())] += mutant.coin() ? 1 : -1;
  return true;
}

bool changeSteps(Mutant &mutant) {
  mutant.plan.run.steps += mutant.coin() ? 1 : -1;
  return true;
}

// ---- the clock itself ----

bool spoilTime(Mutant &mutant) {
  mutant.anyAction().time += mutant.coin() ? 1 : -1;
  return true;
}

bool spoilPeriod(Mutant &mutant) {
  if (mutant.program.loops.empty())
    return false;
  Loop &loop = mutant.program.loops[mutant.below(mutant.program.loops.size())];
  (mutant.coin() ? loop.period : loop.start) += mutant.coin() ? 1 : -1;
  return true;
}

bool swapTimes(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.actions.size() - 1);
  std::swap(mutant.action(index).time, mutant.program.actions[index + 1].time);
  return true;
}

/// Swapped, and each time stays in its place.
bool swapUnderTheClock(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.actions.size() - 1);
  Action &one = mutant.action(index), &other = mutant.program.actions[index + 1];
  std::swap(one, other);
  std::swap(one.time, other.time);
  return true;
}

constexpr std::array kMutations = {
    PlanMutation{"drop a wait", dropWait},
    PlanMutation{"wait for another action", waitForAnother},
    PlanMutation{"wait on another lane", waitOnAnotherLane},
    PlanMutation{"swap neighbours", swapNeighbours},
    PlanMutation{"swap two actions", swapAny},
    PlanMutation{"move an action", moveElsewhere},
    PlanMutation{"drop an action", drop},
    PlanMutation{"duplicate an action", duplicate},
    PlanMutation{"retarget a microbatch", retargetMicrobatch},
    PlanMutation{"retarget a stage", retargetStage},
    PlanMutation{"retarget an operand", retargetOperand},
    PlanMutation{"retarget one action's operand", retargetOwnOperand},
    PlanMutation{"drop an operand", dropOperand},
    PlanMutation{"re-lane", relane},
    PlanMutation{"another opcode", changeOpcode},
    PlanMutation{"overwrite or add", flipOverwrite},
    PlanMutation{"a flag", flipFlag},
    PlanMutation{"advance in a loop", changeStep},
    PlanMutation{"shorten a ring", shortenRing},
    PlanMutation{"lengthen a ring", lengthenRing},
    PlanMutation{"share bytes", shareBytes},
    PlanMutation{"resize a buffer", resizeBuffer},
    PlanMutation{"reshape one end", reshapeMessage},
    PlanMutation{"reshape a flow", reshapeChannel},
    PlanMutation{"another peer or flow", changePeer},
    PlanMutation{"another number of slots", changeSlots},
    PlanMutation{"change a group", changeGroup},
    PlanMutation{"disconnect or connect twice", disconnect},
    PlanMutation{"drop a message at all ends", dropMessages},
    PlanMutation{"duplicate a message at all ends", duplicateMessages},
    PlanMutation{"swap messages at all ends", swapMessages},
    PlanMutation{"move a message at all ends", moveMessages},
    PlanMutation{"drop an opcode everywhere", dropEverywhere},
    PlanMutation{"change a loop", changeLoop},
    PlanMutation{"change a loop everywhere", changeLoopEverywhere},
    PlanMutation{"change a guard", changeGuard},
    PlanMutation{"change a guard everywhere", changeGuardEverywhere},
    PlanMutation{"change a case", changeCase},
    PlanMutation{"change a case everywhere", changeCaseEverywhere},
    PlanMutation{"change a condition", changeCondition},
    PlanMutation{"change a decision's range", changeRange},
    PlanMutation{"another number of steps", changeSteps},
    PlanMutation{"spoil a time", spoilTime, false},
    PlanMutation{"spoil a loop's clock", spoilPeriod, false},
    PlanMutation{"swap two times", swapTimes, false},
    PlanMutation{"swap under the clock", swapUnderTheClock, false},
};

} // namespace

std::span<const PlanMutation> planMutations() { return kMutations; }

} // namespace vime
