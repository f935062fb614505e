// Orders at many shapes: what is accepted is a legal order, what is refused comes with numbers that
// are accepted; bubbles and memory follow the formulas. All shapes: EveryShapeTest.cpp.
#include "schedules/Limits.h"
#include "schedules/Registry.h"
#include "schedules/UnitTime.h"
#include "tests/schedules/ShapesOfOrders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace vime {
namespace {

// Calls `visit` for ranks 1 to 16, chunks 1 to 4 and a sample of microbatches 1 to 64.
template <typename Visit> void forSampledShapes(Visit visit) {
  for (int ranks = 1; ranks <= 16; ++ranks)
    for (int chunks = 1; chunks <= 4; ++chunks)
      for (int microbatches = 1; microbatches <= 64;
           microbatches += 1 + microbatches / 4 + (ranks + chunks) % 3)
        visit(ScheduleShape{ranks, microbatches, chunks});
}

TEST(Property, TwoThousandShapes) {
  std::mt19937 random(5);
  const auto upTo = [&](int most) { return 1 + static_cast<int>(random() % most); };
  int legal = 0;
  constexpr int kShapes = 2000;
  for (int draw = 0; draw < kShapes;) {
    const Order &order = allOrders()[random() % allOrders().size()];
    if (order.takes.costs && random() % 8 != 0)
      continue; // a search takes its time
    ++draw;
    const Field field = fieldOf(order);
    const auto shapes =
        variantsOf(order, {upTo(field.ranks), upTo(field.microbatches), upTo(field.chunks)});
    legal += expectLegalOrMended(order, shapes[random() % shapes.size()]);
  }
  EXPECT_GT(legal, 500);
  EXPECT_GT(kShapes - legal, 500);
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

std::optional<int> forwardsOnly(ScheduleShape shape) {
  if (shape.chunks > 1 && shape.microbatches % shape.ranks != 0)
    return std::nullopt;
  return shape.microbatches * shape.chunks + shape.ranks - 1;
}

std::optional<int> oneActivation(ScheduleShape) { return 1; }

std::optional<int> loopedMakespan(ScheduleShape shape) {
  return shape.microbatches >= shape.ranks ? withBubbleOfOnePass(shape) : std::nullopt;
}

std::optional<int> allOfAllChunks(ScheduleShape shape) { return shape.microbatches * shape.chunks; }

std::optional<int> doubleWarmUp(ScheduleShape shape) {
  return std::min(2 * shape.ranks - 1, shape.microbatches);
}

std::optional<int> groupedMakespan(ScheduleShape shape) { // in groups of half the ranks
  if (shape.ranks % 2 != 0 || shape.microbatches % (shape.ranks / 2) != 0)
    return std::nullopt;
  return busy(shape) + (shape.chunks + 3) * shape.ranks / 2 - 2;
}

std::optional<int> groupedPeak(ScheduleShape shape) {
  const int group = (shape.ranks + 1) / 2;
  if (shape.microbatches % group != 0)
    return std::nullopt;
  return std::min((shape.chunks - 1) * group + shape.ranks, busy(shape) / 3);
}

std::optional<int> oneFOneBVMakespan(ScheduleShape shape) {
  if (shape.ranks % 3 != 1 || shape.microbatches < shape.ranks)
    return std::nullopt;
  return busy(shape) + 5 * (shape.ranks - 1);
}

std::optional<int> oneFOneBVPeak(ScheduleShape shape) {
  return 2 * std::min((2 * shape.ranks + 3) / 3, shape.microbatches);
}

std::optional<int> hanayoMakespan(ScheduleShape shape) {
  if (shape.chunks != 2 || shape.microbatches != shape.ranks)
    return std::nullopt;
  return busy(shape) + 4 * (shape.ranks - 1);
}

std::optional<int> hanayoPeak(ScheduleShape shape) {
  return shape.chunks * std::min(shape.ranks, shape.microbatches);
}

std::optional<int> doubleZeroBubbleMakespan(ScheduleShape shape) {
  if (shape.microbatches < 2 * shape.ranks - 1)
    return std::nullopt;
  return busy(shape) + shape.ranks - 1;
}

std::optional<int> interleavedZeroBubblePeak(ScheduleShape shape) {
  const int round = shape.microbatches / std::max(1, shape.microbatches / shape.ranks);
  return std::min(shape.ranks + (shape.chunks - 1) * round, busy(shape) / 3);
}

std::optional<int> dualPipeVMakespan(ScheduleShape shape) { return busy(shape) + shape.ranks - 1; }

std::optional<int> dualPipeVPeak(ScheduleShape shape) { return 2 * shape.ranks + 1; }

std::optional<int> chimeraMakespan(ScheduleShape shape) {
  if (shape.microbatches % shape.ranks != 0)
    return std::nullopt;
  return busy(shape) + (shape.ranks - 2) * (1 + shape.microbatches / shape.ranks);
}

std::optional<int> dualPipeMakespan(ScheduleShape shape) {
  return busy(shape) + shape.ranks / 2 - 1;
}

std::optional<int> oneMoreThanRanks(ScheduleShape shape) { return shape.ranks + 1; }

constexpr Formula kFormulas[] = {
    {"forward-only", forwardsOnly, oneActivation, /*sameOnEveryRank=*/true},
    {"gpipe", withBubbleOfOnePass, allMicrobatches, /*sameOnEveryRank=*/true},
    {"1f1b", withBubbleOfOnePass, asManyAsRanks},
    {"eager-1f1b", withBubbleOfOnePass, doubleWarmUp},
    {"looped-bfs", loopedMakespan, allOfAllChunks, /*sameOnEveryRank=*/true},
    {"interleaved", interleavedMakespan, interleavedPeak},
    {"grouped", groupedMakespan, groupedPeak},
    {"1f1b-v", oneFOneBVMakespan, oneFOneBVPeak},
    {"hanayo", hanayoMakespan, hanayoPeak},
    {"zb-h2", doubleZeroBubbleMakespan, doubleWarmUp, /*sameOnEveryRank=*/true},
    {"interleaved-zb", zeroBubbleMakespan, interleavedZeroBubblePeak, /*sameOnEveryRank=*/true},
    {"dualpipe-v", dualPipeVMakespan, dualPipeVPeak, /*sameOnEveryRank=*/true},
    {"zb-h1", zeroBubbleMakespan, asManyAsRanks, /*sameOnEveryRank=*/true},
    {"zb-v", veeMakespan, veePeak},
    {"v-half", vHalfMakespan, vHalfPeak},
    {"v-min", vMinMakespan, vMinPeak},
    {"zb-1p", zeroBubbleMakespan, asManyAsRanks},
    {"zb-2p", zeroBubbleMakespan, unknown},
    {"v-auto", veeMakespan, unknown},
    {"chimera", chimeraMakespan, asManyAsRanks},
    {"dualpipe", dualPipeMakespan, oneMoreThanRanks, /*sameOnEveryRank=*/true},
    {"seq1f1b", withBubbleOfOnePass, asManyAsRanks},
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
    if (!fieldOf(order).has(shape) || check(order, shape))
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

int peakOf(const UnitTimes &times) {
  return *std::max_element(times.peakLive.begin(), times.peakLive.end());
}

// What the records say of numbers that are stated.
TEST(Property, StatedGroupsFollowTheFormulas) {
  int checked = 0;
  forSampledShapes([&](ScheduleShape shape) {
    const int ranks = shape.ranks, most = shape.microbatches * shape.chunks;
    for (const int group : {ranks, ranks + 1, 2 * ranks, shape.microbatches}) {
      shape.group = group;
      if (shape.microbatches % group != 0 || check(*findOrder("interleaved"), shape))
        continue;
      for (const bool overlap : {false, true}) {
        shape.overlap = overlap;
        const UnitTimes times = simulate(findOrder("interleaved")->build(shape));
        EXPECT_EQ(times.makespan, busy(shape) + 3 * (ranks - 1)) << named({}, shape);
        EXPECT_EQ(peakOf(times),
                  std::min(2 * (ranks - 1) + (shape.chunks - 1) * group + 1 + overlap, most))
            << named({}, shape);
      }
      shape.overlap = false;
      if (group != ranks)
        continue;
      const UnitTimes times = simulate(findOrder("grouped")->build(shape));
      EXPECT_EQ(times.makespan, busy(shape) + 2 * (ranks - 1)) << named({}, shape);
      EXPECT_EQ(peakOf(times), shape.chunks * ranks) << named({}, shape);
      ++checked;
    }
  });
  EXPECT_GT(checked, 50);
}

TEST(Property, PairsOfEager1F1BKeepOneMore) {
  forSampledShapes([&](ScheduleShape shape) {
    shape.chunks = 1;
    shape.overlap = true;
    const UnitTimes times = simulate(findOrder("eager-1f1b")->build(shape));
    EXPECT_EQ(times.makespan, withBubbleOfOnePass(shape)) << named({}, shape);
    EXPECT_EQ(peakOf(times), std::min(2 * shape.ranks, shape.microbatches)) << named({}, shape);
  });
}

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
