// Which numbers of microbatches share a program, and which have one of their own.
#include "compiler/Lowering/StepMembers.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "schedules/Registry.h"

namespace vime {
namespace {

using Family = std::vector<std::uint32_t>;

Family from(std::uint32_t least, std::uint32_t most) {
  Family values(most - least + 1);
  std::iota(values.begin(), values.end(), least);
  return values;
}

Schedule orderOf(std::string_view name, int ranks, int microbatches) {
  const Order &order = *findOrder(name);
  return order.build(shapeFor(order, ranks, microbatches));
}

/// The numbers of each program.
std::vector<Family> numbersOf(const Schedule &order, const Family &family, bool fillsUp) {
  std::vector<Family> numbers;
  const auto members = membersOf(order, family.back(), family, fillsUp);
  EXPECT_TRUE(members);
  for (const StepMember &member : *members)
    numbers.push_back(member.microbatches);
  return numbers;
}

TEST(StepMembers, OneProgramServesAllNumbersThatItsLoopsCover) {
  const auto numbers = numbersOf(orderOf("1f1b", 4, 200), from(100, 200), /*fillsUp=*/true);
  ASSERT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers[0], from(100, 200));
}

TEST(StepMembers, ANumberOfAnotherRemainderIsFilledUp) {
  const auto numbers = numbersOf(orderOf("interleaved", 4, 200), from(101, 200), true);
  ASSERT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers[0].front(), 104u);
  EXPECT_EQ(numbers[0].size(), 25u); // 104, 108, … 200
}

TEST(StepMembers, ANumberOfAnotherRemainderHasAProgramWhereNothingFillsUp) {
  const auto numbers = numbersOf(orderOf("interleaved", 4, 200), {101, 200}, false);
  EXPECT_EQ(numbers, (std::vector<Family>{{101}, {200}}));
}

/// Around its loop an order leaves some microbatches, without which it is another one.
TEST(StepMembers, FewOfTheSmallNumbersHaveProgramsOfTheirOwn) {
  const auto numbers = numbersOf(orderOf("interleaved", 4, 200), from(1, 200), true);
  EXPECT_EQ(numbers.size(), 8u);
  EXPECT_GT(numbers.back().size(), 30u);
  for (std::size_t member = 0; member + 1 < numbers.size(); ++member) {
    EXPECT_EQ(numbers[member].size(), 1u);
    EXPECT_LT(numbers[member].front(), numbers[member + 1].front());
  }
}

TEST(StepMembers, OfAnOrderWithoutAPeriodSomeNumbersAreMembers) {
  std::vector<int> back(40);
  std::iota(back.begin(), back.end(), 0);
  std::shuffle(back.begin(), back.end(), std::mt19937(7));
  Schedule order{{0}, {{}}};
  for (int microbatch = 0; microbatch < 40; ++microbatch)
    order.rows[0].push_back({TaskKind::Forward, 0, microbatch});
  for (const int microbatch : back)
    order.rows[0].push_back({TaskKind::Backward, 0, microbatch});
  const auto numbers = numbersOf(order, from(1, 40), true);
  EXPECT_EQ(numbers.size(), 8u);
  EXPECT_EQ(numbers.back(), (Family{40}));
}

TEST(StepMembers, AreNoMoreThanCanBeJudgedOneByOne) {
  const auto numbers = numbersOf(orderOf("1f1b", 64, 512), from(1, 512), true);
  EXPECT_LE(numbers.size(), 8u);
  EXPECT_LT(numbers.back().size(), 64u);
  EXPECT_GE(numbers.back().size(), 8u);
}

} // namespace
} // namespace vime
