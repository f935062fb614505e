#include "schedules/MergeBackwards.h"
#include "schedules/Placement.h"
#include "schedules/UnitTime.h"

#include <algorithm>
#include <limits>

namespace vime {

namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::int64_t kNever = -1;

using Row = std::vector<Task>;

/// Where the weight gradient of this input gradient stands, if nothing but idle slots is between.
std::size_t weightBehind(const Row &row, std::size_t position) {
  const Task &input = row[position];
  const bool isInPair = input.overlapsNext || (position > 0 && row[position - 1].overlapsNext);
  if (input.kind != TaskKind::BackwardInput || isInPair)
    return kNone;
  std::size_t next = position + 1;
  while (next < row.size() && row[next].kind == TaskKind::Idle)
    ++next;
  const bool isOther = next < row.size() && row[next].kind == TaskKind::BackwardWeight &&
                       row[next].stage == input.stage && row[next].microbatch == input.microbatch;
  return isOther ? next : kNone;
}

/// When whoever takes the gradients of a stage begins, as far as that is asked.
class Takers {
public:
  Takers(const Schedule &order, UnitCosts costs) : order(order), costs(costs) {}

  /// Whether the gradient of the input gradient at this place, sent when its weight gradient has
  /// ended, is there before anybody asks for it.
  bool canWait(std::size_t rank, std::size_t weight) {
    const Task &task = order.rows[rank][weight];
    if (task.stage % depthOf(order) == 0)
      return true; // nothing is sent
    const int taker = task.stage - 1;
    if (order.placement[static_cast<std::size_t>(taker)] == static_cast<int>(rank))
      return true; // it stands behind the weight gradient
    if (begins.empty())
      simulateOnce();
    const std::int64_t asked = begins[cell(taker, task.microbatch)];
    const std::int64_t begun = times.start[rank][weight];
    return asked != kNever && begun != kNever &&
           begun + costs.of(TaskKind::BackwardWeight) + costs.transfer <= asked;
  }

private:
  std::size_t cell(int stage, int microbatch) const {
    return static_cast<std::size_t>(stage) * microbatches + static_cast<std::size_t>(microbatch);
  }

  void simulateOnce() {
    times = simulate(order, costs);
    for (const Row &row : order.rows)
      for (const Task &task : row)
        microbatches = std::max(microbatches, static_cast<std::size_t>(task.microbatch + 1));
    begins.assign(order.placement.size() * microbatches, kNever);
    for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
      for (std::size_t position = 0; position < order.rows[rank].size(); ++position)
        if (const Task &task = order.rows[rank][position];
            task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardInput)
          begins[cell(task.stage, task.microbatch)] = times.start[rank][position];
  }

  const Schedule &order;
  const UnitCosts costs;
  std::size_t microbatches = 0;
  UnitTimes times;
  std::vector<std::int64_t> begins; // by stage and microbatch: of the backward
};

} // namespace

Schedule mergeBackwards(Schedule order, Merging merging, UnitCosts costs) {
  if (merging == Merging::Nowhere)
    return order;
  Takers takers(order, costs);
  std::vector<Row> rows;
  for (std::size_t rank = 0; rank < order.rows.size(); ++rank) {
    const Row &row = order.rows[rank];
    Row &merged = rows.emplace_back();
    merged.reserve(row.size());
    for (std::size_t position = 0; position < row.size(); ++position) {
      merged.push_back(row[position]);
      const std::size_t weight = weightBehind(row, position);
      if (weight == kNone || (merging == Merging::WhereItPays && !takers.canWait(rank, weight)))
        continue;
      merged.back().kind = TaskKind::Backward;
      position = weight;
    }
  }
  order.rows = std::move(rows);
  return order;
}

HalvesOfBackwards halvesOf(const Schedule &order) {
  HalvesOfBackwards halves;
  for (const Row &row : order.rows)
    for (std::size_t position = 0; position < row.size(); ++position) {
      halves.all += row[position].kind == TaskKind::BackwardInput;
      halves.neighbours += weightBehind(row, position) != kNone;
    }
  return halves;
}

} // namespace vime
