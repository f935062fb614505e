#include "tests/Mutation/OrderMutations.h"

#include <algorithm>
#include <array>

namespace vime {
namespace {

using Row = std::vector<Task>;

Row &anyRow(Schedule &order, std::mt19937 &random) {
  return order.rows[random() % order.rows.size()];
}
std::size_t anyTask(const Row &row, std::mt19937 &random) { return random() % row.size(); }

bool swapNeighbours(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random);
  const std::size_t index = random() % (row.size() - 1);
  std::swap(row[index], row[index + 1]);
  return true;
}

bool swapAny(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random);
  std::swap(row[anyTask(row, random)], row[anyTask(row, random)]);
  return true;
}

bool move(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random);
  const std::size_t from = anyTask(row, random);
  const Task task = row[from];
  row.erase(row.begin() + static_cast<std::ptrdiff_t>(from));
  row.insert(row.begin() + static_cast<std::ptrdiff_t>(random() % (row.size() + 1)), task);
  return true;
}

bool drop(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random);
  row.erase(row.begin() + static_cast<std::ptrdiff_t>(anyTask(row, random)));
  return true;
}

bool duplicate(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random);
  const Task task = row[anyTask(row, random)];
  row.insert(row.begin() + static_cast<std::ptrdiff_t>(random() % (row.size() + 1)), task);
  return true;
}

bool retargetMicrobatch(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random);
  int most = 0;
  for (const Task &task : row)
    most = std::max(most, task.microbatch);
  row[anyTask(row, random)].microbatch =
      static_cast<int>(random() % (static_cast<unsigned>(most) + 1));
  return true;
}

bool retargetStage(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random);
  row[anyTask(row, random)].stage = static_cast<int>(random() % order.placement.size());
  return true;
}

bool anotherKind(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random);
  row[anyTask(row, random)].kind = static_cast<TaskKind>(random() % 4);
  return true;
}

bool toAnotherRank(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random), &other = anyRow(order, random);
  const std::size_t from = anyTask(row, random);
  const Task task = row[from];
  row.erase(row.begin() + static_cast<std::ptrdiff_t>(from));
  other.insert(other.begin() + static_cast<std::ptrdiff_t>(random() % (other.size() + 1)), task);
  return true;
}

/// A whole backward in two parts, the second anywhere behind.
bool split(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random);
  const std::size_t index = anyTask(row, random);
  if (row[index].kind != TaskKind::Backward)
    return false;
  row[index].kind = TaskKind::BackwardInput;
  Task weight = row[index];
  weight.kind = TaskKind::BackwardWeight;
  row.insert(row.begin() + static_cast<std::ptrdiff_t>(index + 1 + random() % (row.size() - index)),
             weight);
  return true;
}

/// All of its tasks, each as far along in the other row as it was in its own.
bool moveStage(Schedule &order, std::mt19937 &random) {
  const auto stage = random() % order.placement.size();
  const auto to = random() % order.rows.size();
  Row &from = order.rows[static_cast<std::size_t>(order.placement[stage])], &into = order.rows[to];
  if (&from == &into)
    return false;
  Row rest, merged = into;
  for (std::size_t index = 0; index < from.size(); ++index)
    if (from[index].stage != static_cast<int>(stage))
      rest.push_back(from[index]);
    else
      merged.insert(merged.begin() +
                        static_cast<std::ptrdiff_t>(std::min(index + index % 2, merged.size())),
                    from[index]);
  from = rest;
  into = merged;
  order.placement[stage] = static_cast<int>(to);
  return true;
}

bool shuffle(Schedule &order, std::mt19937 &random) {
  Row &row = anyRow(order, random);
  for (int swaps = 0; swaps < 4; ++swaps) {
    const std::size_t index = random() % (row.size() - 1);
    std::swap(row[index], row[index + 1]);
  }
  return true;
}

constexpr std::array kMutations = {
    OrderMutation{"swap neighbours", swapNeighbours},
    OrderMutation{"swap two tasks", swapAny},
    OrderMutation{"swap several neighbours", shuffle},
    OrderMutation{"move a task", move},
    OrderMutation{"drop a task", drop},
    OrderMutation{"duplicate a task", duplicate},
    OrderMutation{"retarget a microbatch", retargetMicrobatch},
    OrderMutation{"retarget a stage", retargetStage},
    OrderMutation{"another kind", anotherKind},
    OrderMutation{"to another rank", toAnotherRank},
    OrderMutation{"split a backward", split},
    OrderMutation{"move a stage", moveStage},
};

} // namespace

std::span<const OrderMutation> orderMutations() { return kMutations; }

} // namespace vime
