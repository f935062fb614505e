// Lower bounds against the optimum of small pipelines, found by running every order there is.
#include "schedules/Bounds.h"
#include "schedules/Period.h"
#include "schedules/UnitTime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace vime {
namespace {

using Row = std::vector<Task>;

// All sequences of the tasks of these stages in which F, I and W of each microbatch follow each
// other and no more activations live than the memory holds.
class Rows {
public:
  Rows(std::vector<int> stages, int microbatches, int memory) : memory(memory) {
    for (const int stage : stages)
      for (int microbatch = 0; microbatch < microbatches; ++microbatch)
        chains.push_back({stage, microbatch, 0});
    extend(0);
  }

  std::vector<Row> all;

private:
  struct Chain {
    int stage, microbatch, done;
  };

  void extend(int alive) {
    constexpr TaskKind kKinds[] = {TaskKind::Forward, TaskKind::BackwardInput,
                                   TaskKind::BackwardWeight};
    if (row.size() == 3 * chains.size())
      all.push_back(row);
    for (Chain &chain : chains) {
      const int change = chain.done == 0 ? 1 : chain.done == 2 ? -1 : 0;
      if (chain.done == 3 || alive + change > memory)
        continue;
      row.push_back({kKinds[chain.done++], chain.stage, chain.microbatch});
      extend(alive + change);
      row.pop_back();
      --chain.done;
    }
  }

  std::vector<Chain> chains;
  int memory;
  Row row;
};

struct Optimum {
  std::int64_t makespan = std::numeric_limits<std::int64_t>::max();
  double period = std::numeric_limits<double>::infinity(); // post-validated
  int orders = 0;                                          // that finish
};

class Search {
public:
  explicit Search(const BoundedShape &shape) : shape(shape) {
    for (int rank = 0; rank < shape.ranks; ++rank)
      rows.push_back(Rows(stagesOf(shape.placement, rank), shape.microbatches, shape.memory).all);
    order.placement = shape.placement;
    choose(0);
  }

  Optimum best;

private:
  void choose(std::size_t rank) {
    if (rank == rows.size())
      return judge();
    for (const Row &row : rows[rank]) {
      order.rows.push_back(row);
      choose(rank + 1);
      order.rows.pop_back();
    }
  }

  void judge() {
    const UnitTimes times = simulate(order, shape.costs);
    if (times.stuck)
      return;
    ++best.orders;
    best.makespan = std::min(best.makespan, times.makespan);
    const std::int64_t busy = *std::max_element(times.busy.begin(), times.busy.end());
    if (static_cast<double>(busy) < best.period) // else it cannot be shorter
      best.period = std::min(best.period, periodsOf(order, shape.costs).postValidated);
  }

  const BoundedShape &shape;
  std::vector<std::vector<Row>> rows; // of each rank: all that it could run
  Schedule order;
};

struct Case {
  std::string_view name;
  Placement placement;
  int ranks, microbatches, memory;
};

TEST(BoundsOptimum, NoOrderThereIsUndercutsThem) {
  int reached = 0;
  const Placement two = linearPlacement({.ranks = 2, .microbatches = 1});
  const Placement three = linearPlacement({.ranks = 3, .microbatches = 1});
  const Placement vee = veePlacement({.ranks = 2, .microbatches = 1, .chunks = 2});
  for (const Case &small : {Case{"two ranks, one alive", two, 2, 2, 1},
                            {"two ranks", two, 2, 2, 2},
                            {"three ranks, one alive", three, 3, 2, 1},
                            {"three ranks", three, 3, 2, 2},
                            {"a vee", vee, 2, 1, 2}})
    for (const UnitCosts costs : {UnitCosts{}, UnitCosts{10, 12, 8}, UnitCosts{10, 12, 8, 3},
                                  UnitCosts{3, 1, 7, 2}, UnitCosts{1, 9, 2}}) {
      const BoundedShape shape{.placement = small.placement,
                               .ranks = small.ranks,
                               .microbatches = small.microbatches,
                               .memory = small.memory,
                               .costs = costs};
      const Bounds bounds = boundsOf(shape);
      const Optimum best = Search(shape).best;
      ASSERT_GT(best.orders, 0) << small.name;
      EXPECT_LE(bounds.makespan.least, best.makespan) << small.name << " F " << costs.forward;
      EXPECT_LE(static_cast<double>(bounds.span.least), best.period + 1e-9)
          << small.name << " F " << costs.forward;
      reached += bounds.makespan.least == best.makespan;
    }
  EXPECT_GE(reached, 15); // of 25: no idle bounds either
}

} // namespace
} // namespace vime
