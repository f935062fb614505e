// Every order times many shapes: what is accepted is a legal order, what is refused comes with
// numbers that are accepted.
#include "schedules/Limits.h"
#include "schedules/Placement.h"
#include "schedules/Registry.h"
#include "schedules/UnitTime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace vime {
namespace {

std::string named(const Order &order, ScheduleShape shape) {
  return std::string(order.name) + " ranks " + std::to_string(shape.ranks) + " microbatches " +
         std::to_string(shape.microbatches) + " chunks " + std::to_string(shape.chunks);
}

// Calls `visit` for ranks 1 to 16, chunks 1 to 4 and a sample of microbatches 1 to 64.
template <typename Visit> void forSampledShapes(Visit visit) {
  for (int ranks = 1; ranks <= 16; ++ranks)
    for (int chunks = 1; chunks <= 4; ++chunks)
      for (int microbatches = 1; microbatches <= 64;
           microbatches += 1 + microbatches / 4 + (ranks + chunks) % 3)
        visit(ScheduleShape{ranks, microbatches, chunks});
}

// Orders that search for costs do so for a while where no bound tells them to stop; ZB-V has a rule
// for the usual ones.
bool takesLong(const Order &order, ScheduleShape shape) {
  return order.takes.costs && order.name != "zb-v" && (shape.ranks > 8 || shape.microbatches > 24);
}

template <typename Visit> void forSampledShapesOfEachOrder(Visit visit) {
  for (const Order &order : allOrders())
    forSampledShapes([&](ScheduleShape shape) {
      if (!takesLong(order, shape))
        visit(order, shape);
    });
}

// A judge that shares nothing with makers and simulator: collects what each rank runs, then runs it
// by plain rules.
class Judge {
public:
  Judge(const Schedule &order, ScheduleShape shape) : order(order), shape(shape) {}

  std::string verdict() {
    for (const auto &check :
         {&Judge::placement, &Judge::tasks, &Judge::ascending, &Judge::completes})
      if (std::string fault = (this->*check)(); !fault.empty())
        return fault;
    return "legal";
  }

private:
  using Key = std::tuple<TaskKind, int, int>;

  std::string placement() {
    if (static_cast<int>(order.rows.size()) != shape.ranks ||
        static_cast<int>(order.placement.size()) != shape.stages())
      return "wrong number of ranks or stages";
    for (int rank = 0; rank < shape.ranks; ++rank)
      for (const Task &task : order.rows[rank])
        if (task.kind != TaskKind::Idle && order.placement.at(task.stage) != rank)
          return "a task on the wrong rank";
    return {};
  }

  // Once F, and once B or once each I and W, for every stage and microbatch; nothing else.
  std::string tasks() {
    std::map<Key, int> count;
    std::size_t total = 0;
    for (const std::vector<Task> &row : order.rows)
      for (const Task &task : row)
        if (task.kind != TaskKind::Idle)
          ++count[{task.kind, task.stage, task.microbatch}], ++total;
    for (int stage = 0; stage < shape.stages(); ++stage)
      for (int microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
        const auto times = [&](TaskKind kind) { return count[{kind, stage, microbatch}]; };
        const int whole = times(TaskKind::Backward);
        if (times(TaskKind::Forward) != 1 || whole + times(TaskKind::BackwardInput) != 1 ||
            whole + times(TaskKind::BackwardWeight) != 1)
          return "a pass that is missing or runs twice";
        total -= whole ? 2 : 3;
      }
    return total == 0 ? std::string() : "tasks that belong to no pass";
  }

  // Gradients are summed in ascending microbatch on every stage: the condition for bit-equal
  // results across orders.
  std::string ascending() {
    std::map<std::pair<TaskKind, int>, int> last;
    for (const std::vector<Task> &row : order.rows)
      for (const Task &task : row)
        if (task.kind != TaskKind::Idle && task.microbatch != last[{task.kind, task.stage}]++)
          return "microbatches of a stage out of order";
    return {};
  }

  std::string completes() {
    std::set<Key> done;
    std::vector<std::size_t> next(order.rows.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < next.size(); ++rank)
        while (next[rank] < order.rows[rank].size() &&
               isReady(done, order.rows[rank][next[rank]])) {
          const Task &task = order.rows[rank][next[rank]++];
          done.insert({task.kind, task.stage, task.microbatch});
          moved = true;
        }
    }
    for (std::size_t rank = 0; rank < next.size(); ++rank)
      if (next[rank] < order.rows[rank].size())
        return "rank " + std::to_string(rank) + " never completes";
    return {};
  }

  bool isReady(const std::set<Key> &done, const Task &task) const {
    const auto has = [&](TaskKind kind, int stage) {
      return done.contains({kind, stage, task.microbatch});
    };
    switch (task.kind) {
    case TaskKind::Idle:
      return true;
    case TaskKind::Forward:
      return task.stage == 0 || has(TaskKind::Forward, task.stage - 1);
    case TaskKind::BackwardWeight:
      return has(TaskKind::BackwardInput, task.stage);
    default:
      return has(TaskKind::Forward, task.stage) &&
             (task.stage == shape.stages() - 1 || has(TaskKind::Backward, task.stage + 1) ||
              has(TaskKind::BackwardInput, task.stage + 1));
    }
  }

  const Schedule &order;
  const ScheduleShape shape;
};

TEST(Property, AcceptedShapesGiveLegalOrders) {
  int legal = 0;
  forSampledShapesOfEachOrder([&](const Order &order, ScheduleShape shape) {
    if (check(order, shape))
      return;
    const Schedule built = order.build(shape);
    EXPECT_EQ(Judge(built, shape).verdict(), "legal") << named(order, shape);
    EXPECT_EQ(simulate(built).stuck, std::nullopt) << named(order, shape);
    ++legal;
  });
  EXPECT_GT(legal, 500);
}

TEST(Property, RefusedShapesComeWithAcceptedOnes) {
  int refused = 0;
  forSampledShapesOfEachOrder([&](const Order &order, ScheduleShape shape) {
    const std::optional<OrderProblem> problem = check(order, shape);
    if (!problem)
      return;
    EXPECT_FALSE(problem->message.empty() || problem->help.empty()) << named(order, shape);
    EXPECT_FALSE(problem->nearest.empty()) << named(order, shape);
    for (const ScheduleShape nearest : problem->nearest) {
      EXPECT_EQ(check(order, nearest), std::nullopt) << named(order, shape);
      EXPECT_EQ(nearest.ranks, shape.ranks) << named(order, shape); // legal already, so kept
    }
    ++refused;
  });
  EXPECT_GT(refused, 500);
}

// Between the given number and the offered ones lies no other that would do.
TEST(Property, NearestMicrobatchesAreTheNearest) {
  const Order &order = *findOrder("interleaved");
  for (int microbatches = 1; microbatches <= 200; ++microbatches) {
    const std::optional<OrderProblem> problem = check(order, {7, microbatches, 2});
    if (!problem)
      continue;
    ASSERT_EQ(problem->nearest.size(), 2U);
    for (int other = problem->nearest[0].microbatches + 1; other < problem->nearest[1].microbatches;
         ++other)
      EXPECT_TRUE(check(order, {7, other, 2}).has_value()) << other;
  }
}

// The rounding of an allowed microbatch count at the largest shapes must not offer one beyond the
// limit.
TEST(Property, NearestStaysWithinTheLimits) {
  const Order &order = *findOrder("interleaved");
  const int most = static_cast<int>(kMaxForwards / (1000 * 4));
  for (int microbatches = most - 60; microbatches <= most + 60; ++microbatches) {
    const std::optional<OrderProblem> problem = check(order, {1000, microbatches, 4});
    for (const ScheduleShape nearest : problem ? problem->nearest : std::vector<ScheduleShape>())
      EXPECT_EQ(check(order, nearest), std::nullopt) << microbatches;
  }
}

// What the table says about makespan and activations in words, as numbers for F = I = W = 1,
// B = 2 per stage. Nothing where it says nothing.
struct Formula {
  std::string_view order;
  std::optional<int> (*makespan)(ScheduleShape);
  std::optional<int> (*peak)(ScheduleShape);
  bool sameOnEveryRank = false; // the peak, from as many microbatches as ranks on
};

int busy(ScheduleShape shape) { return 3 * shape.microbatches * shape.chunks; }

std::optional<int> withBubbleOfOnePass(ScheduleShape shape) {
  return busy(shape) + 3 * (shape.ranks - 1);
}

std::optional<int> interleavedMakespan(ScheduleShape shape) {
  return shape.microbatches % shape.ranks == 0 ? withBubbleOfOnePass(shape) : std::nullopt;
}

std::optional<int> interleavedPeak(ScheduleShape shape) {
  const int round = shape.microbatches / std::max(1, shape.microbatches / shape.ranks);
  return std::min(2 * (shape.ranks - 1) + (shape.chunks - 1) * round + 1,
                  shape.chunks * shape.microbatches);
}

std::optional<int> zeroBubbleMakespan(ScheduleShape shape) {
  if (shape.microbatches < shape.ranks)
    return std::nullopt;
  return busy(shape) + shape.ranks - 1;
}

std::optional<int> veeMakespan(ScheduleShape shape) {
  if (shape.microbatches < 2 * shape.ranks - 1)
    return std::nullopt;
  return busy(shape) + shape.ranks - 1;
}

std::optional<int> veePeak(ScheduleShape shape) {
  return 2 * std::min(shape.ranks, shape.microbatches);
}

std::optional<int> vHalfMakespan(ScheduleShape shape) {
  if (shape.microbatches < shape.ranks + 2 || shape.ranks < 3)
    return std::nullopt;
  return busy(shape) + 6 * ((shape.ranks + 1) / 2) - 7;
}

std::optional<int> vHalfPeak(ScheduleShape shape) {
  return 2 * std::min(shape.ranks / 2 + 1, shape.microbatches);
}

std::optional<int> vMinMakespan(ScheduleShape shape) {
  if (shape.microbatches < shape.ranks || shape.ranks < 2)
    return std::nullopt;
  return busy(shape) + 4 * shape.ranks - (shape.ranks % 3 == 0 ? 7 : 5);
}

std::optional<int> vMinPeak(ScheduleShape shape) {
  return 2 * std::min((shape.ranks + 4) / 3, shape.microbatches);
}

std::optional<int> unknown(ScheduleShape) { return std::nullopt; }

std::optional<int> allMicrobatches(ScheduleShape shape) { return shape.microbatches; }

std::optional<int> asManyAsRanks(ScheduleShape shape) {
  return std::min(shape.ranks, shape.microbatches);
}

constexpr Formula kFormulas[] = {
    {"gpipe", withBubbleOfOnePass, allMicrobatches, /*sameOnEveryRank=*/true},
    {"1f1b", withBubbleOfOnePass, asManyAsRanks},
    {"interleaved", interleavedMakespan, interleavedPeak},
    {"zb-h1", zeroBubbleMakespan, asManyAsRanks, /*sameOnEveryRank=*/true},
    {"zb-v", veeMakespan, veePeak},
    {"v-half", vHalfMakespan, vHalfPeak},
    {"v-min", vMinMakespan, vMinPeak},
    {"zb-1p", zeroBubbleMakespan, asManyAsRanks},
    {"zb-2p", zeroBubbleMakespan, unknown},
    {"v-auto", veeMakespan, unknown},
};

class Formulas : public testing::TestWithParam<Order> {};

TEST_P(Formulas, BubblesAndPeaksFollowThem) {
  const Order &order = GetParam();
  const auto formula =
      std::find_if(std::begin(kFormulas), std::end(kFormulas),
                   [&](const Formula &candidate) { return candidate.order == order.name; });
  if (formula == std::end(kFormulas))
    GTEST_SKIP() << "no row of kFormulas says what `" << order.name << "` costs";
  forSampledShapes([&](ScheduleShape shape) {
    if (takesLong(order, shape) || check(order, shape))
      return;
    const UnitTimes times = simulate(order.build(shape));
    const auto [least, most] = std::minmax_element(times.peakLive.begin(), times.peakLive.end());
    const std::string where = named(order, shape);
    EXPECT_EQ(times.makespan, formula->makespan(shape).value_or(times.makespan)) << where;
    EXPECT_EQ(*most, formula->peak(shape).value_or(*most)) << where;
    if (formula->sameOnEveryRank && shape.microbatches >= shape.ranks) {
      EXPECT_EQ(*least, *most) << where;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Property, Formulas, testing::ValuesIn(allOrders()),
                         [](const auto &instance) {
                           std::string letters;
                           for (const char c : instance.param.name)
                             letters += c == '-' ? '_' : c;
                           return letters;
                         });

TEST(Property, LargestShapesAreBuilt) {
  for (const Order &order : allOrders()) {
    ScheduleShape shape = shapeFor(order, kMaxRanks, 64);
    if (const std::optional<OrderProblem> problem = check(order, shape))
      shape = problem->nearest.at(0);
    ASSERT_EQ(check(order, shape), std::nullopt) << order.name;
    EXPECT_EQ(order.build(shape).rows.size(), static_cast<std::size_t>(kMaxRanks));
  }
}

} // namespace
} // namespace vime
