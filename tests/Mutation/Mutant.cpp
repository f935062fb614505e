#include "tests/Mutation/Mutant.h"

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime {

using namespace plan;

Mutant::Mutant(Plan &plan, std::mt19937 &random)
    : plan(plan), random(random), program(plan.programs[random() % plan.programs.size()]),
      layout([&]() -> Layout & {
        const auto index = static_cast<std::uint32_t>(&program - plan.programs.data());
        for (std::size_t rank = 0; rank < plan.programOf.size(); ++rank)
          if (plan.programOf[rank] == index)
            return plan.layouts[plan.layoutOf[rank]];
        return plan.layouts[0];
      }()) {}

Action &Mutant::action(std::uint32_t index) {
  const auto own = static_cast<std::uint32_t>(&program - plan.programs.data());
  for (std::uint32_t rank = 0; rank < plan.programOf.size(); ++rank)
    if (plan.programOf[rank] == own) {
      what += " rank " + std::to_string(rank) + ", action " + std::to_string(index) + " (" +
              describe(plan, rank, index) + ")";
      break;
    }
  return program.actions[index];
}

Wait *Mutant::anyWait() {
  std::vector<std::pair<std::uint32_t, std::size_t>> waits;
  for (std::uint32_t index = 0; index < program.actions.size(); ++index)
    for (std::size_t wait = 0; wait < 4; ++wait)
      if (!program.actions[index].waits[wait].empty())
        waits.push_back({index, wait});
  if (waits.empty())
    return nullptr;
  const auto [index, wait] = waits[below(waits.size())];
  what += " wait " + std::to_string(wait) + " of";
  return &action(index).waits[wait];
}

Buffer &Mutant::anyBuffer() {
  const std::uint32_t index = below(layout.buffers.size());
  const auto own = static_cast<std::uint32_t>(&program - plan.programs.data());
  for (std::uint32_t rank = 0; rank < plan.programOf.size(); ++rank)
    if (plan.programOf[rank] == own) {
      what += " rank " + std::to_string(rank) + ", buffer " + describeBuffer(plan, rank, index);
      break;
    }
  return layout.buffers[index];
}

void Mutant::erase(Program &from, std::uint32_t index) {
  from.actions.erase(from.actions.begin() + index);
  const auto shift = [index](auto &range) {
    range.begin -= index < range.begin;
    range.end -= index < range.end;
  };
  for (Loop &loop : from.loops)
    shift(loop);
  for (Case &one : from.cases)
    shift(one);
}

void Mutant::insert(Program &into, std::uint32_t index, const Action &action) {
  into.actions.insert(into.actions.begin() + index, action);
  const auto shift = [index](auto &range) {
    range.begin += index < range.begin;
    range.end += index < range.end;
  };
  for (Loop &loop : into.loops)
    shift(loop);
  for (Case &one : into.cases)
    shift(one);
}

void Mutant::move(Program &in, std::uint32_t from, std::uint32_t to) {
  const Action moved = in.actions[from];
  erase(in, from);
  insert(in, to > from ? to - 1 : to, moved);
}

} // namespace vime
