#include "tests/schedules/ShapesOfOrders.h"

#include <algorithm>
#include <set>
#include <type_traits>

#include <gtest/gtest.h>

#include "schedules/UnitTime.h"
#include "tests/schedules/OrderJudge.h"

namespace vime {
namespace {

constexpr Field kSearched{.ranks = 8, .microbatches = 24, .chunks = 2};

void expectLegal(const Order &order, ScheduleShape shape) {
  const Schedule built = order.build(shape);
  EXPECT_EQ(verdictOn(order, built, shape), "legal") << named(order, shape);
  const UnitTimes times = simulate(built);
  EXPECT_EQ(times.stuck, std::nullopt) << named(order, shape);
  if (shape.memory != 0) {
    EXPECT_LE(*std::max_element(times.peakLive.begin(), times.peakLive.end()), shape.memory)
        << named(order, shape);
  }
}

// Between the given number and an offered one lies no other that would do.
void expectNearest(const Order &order, ScheduleShape shape, ScheduleShape offered) {
  for (int ScheduleShape::*number :
       {&ScheduleShape::ranks, &ScheduleShape::chunks, &ScheduleShape::microbatches,
        &ScheduleShape::group, &ScheduleShape::memory}) {
    ScheduleShape changed = shape;
    changed.*number = offered.*number;
    if (changed.*number == shape.*number || check(order, changed))
      continue; // not this one alone
    const int step = offered.*number > shape.*number ? 1 : -1;
    for (changed = shape, changed.*number += step; changed.*number != offered.*number;
         changed.*number += step)
      EXPECT_TRUE(check(order, changed).has_value()) << named(order, changed);
  }
}

void expectMended(const Order &order, ScheduleShape shape, const OrderProblem &problem) {
  EXPECT_FALSE(problem.message.empty() || problem.help.empty()) << named(order, shape);
  EXPECT_FALSE(problem.nearest.empty()) << named(order, shape);
  for (const ScheduleShape nearest : problem.nearest) {
    EXPECT_EQ(check(order, nearest), std::nullopt) << named(order, shape);
    expectNearest(order, shape, nearest);
  }
}

} // namespace

bool Field::has(ScheduleShape shape) const {
  return shape.ranks <= ranks && shape.microbatches <= microbatches && shape.chunks <= chunks;
}

Field fieldOf(const Order &order) {
  return order.takes.costs && order.name != "zb-v" ? kSearched : Field{};
}

std::vector<ScheduleShape> variantsOf(const Order &order, ScheduleShape plain) {
  std::vector<ScheduleShape> shapes{plain};
  if (order.takes.costs && !kSearched.has(plain))
    return shapes;
  const auto vary = [&](auto ScheduleShape::*number, const std::set<int> &values) {
    using Number = std::decay_t<decltype(plain.*number)>;
    for (std::size_t given = shapes.size(); given-- > 0;)
      for (const int value : values) {
        ScheduleShape varied = shapes[given];
        varied.*number = static_cast<Number>(value);
        shapes.push_back(varied);
      }
  };
  if (order.takes.group)
    vary(&ScheduleShape::group, {1, plain.ranks / 2, (plain.ranks + 1) / 2, plain.ranks,
                                 plain.ranks + 1, plain.microbatches, plain.microbatches + 1});
  if (order.takes.memory)
    vary(&ScheduleShape::memory, {1, plain.chunks, plain.stages() / 2, plain.stages() + 1});
  if (order.takes.slices)
    vary(&ScheduleShape::slices, {2, plain.chunks + 2});
  if (order.takes.overlap)
    vary(&ScheduleShape::overlap, {true});
  if (order.takes.costs) {
    shapes.push_back(plain);
    shapes.back().costs = {.forward = 10, .backwardInput = 12, .backwardWeight = 8, .transfer = 1};
  }
  return shapes;
}

bool expectLegalOrMended(const Order &order, ScheduleShape shape) {
  const std::optional<OrderProblem> problem = check(order, shape);
  if (problem)
    expectMended(order, shape, *problem);
  else
    expectLegal(order, shape);
  return !problem;
}

std::string named(const Order &order, ScheduleShape shape) {
  std::string text = std::string(order.name) + " ranks " + std::to_string(shape.ranks) +
                     " microbatches " + std::to_string(shape.microbatches) + " chunks " +
                     std::to_string(shape.chunks);
  if (shape.group != 0)
    text += " group " + std::to_string(shape.group);
  if (shape.memory != 0)
    text += " memory " + std::to_string(shape.memory);
  if (shape.slices != 1)
    text += " slices " + std::to_string(shape.slices);
  if (shape.costs != UnitCosts{})
    text += " costs";
  return text + (shape.overlap ? " overlap" : "");
}

} // namespace vime
