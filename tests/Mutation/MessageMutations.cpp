// Messages and calls, changed alike at all ends, so that they still meet; and whole kinds of
// action.
#include <algorithm>
#include <array>

#include "tests/Mutation/PlanMutations.h"

namespace vime {
namespace {

using namespace plan;

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

constexpr std::array kMutations = {
    PlanMutation{"drop a message at all ends", dropMessages},
    PlanMutation{"duplicate a message at all ends", duplicateMessages},
    PlanMutation{"swap messages at all ends", swapMessages},
    PlanMutation{"move a message at all ends", moveMessages},
    PlanMutation{"drop an opcode everywhere", dropEverywhere},
};

} // namespace

std::span<const PlanMutation> messageMutations() { return kMutations; }

} // namespace vime
