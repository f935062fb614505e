// ExactSum: what no order and no division of summands changes.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/Policy/ExactSum.h"

namespace vime {
namespace {

double sumOf(const std::vector<double> &summands) {
  ExactSum sum;
  for (const double summand : summands)
    sum.add(summand);
  return sum.value();
}

TEST(ExactSum, LosesNothingInBetween) {
  EXPECT_EQ(sumOf({}), 0);
  EXPECT_EQ(sumOf({1e300, 0.125, -1e300}), 0.125);
  EXPECT_EQ(sumOf({-1, 0x1p-60, 1}), 0x1p-60);
  EXPECT_EQ(sumOf({-5e-324, -5e-324}), -1e-323);
  EXPECT_EQ(sumOf({-3.5, 1.25}), -2.25);
  EXPECT_EQ(sumOf({3, -3}), 0);
}

TEST(ExactSum, IsRoundedOnce) {
  EXPECT_EQ(sumOf({1, 0x1p-53}), 1);                      // half a place: to even
  EXPECT_EQ(sumOf({1, 0x1p-53, 0x1p-1000}), 1 + 0x1p-52); // more than half
  EXPECT_EQ(sumOf({-1, -0x1p-53, -0x1p-1000}), -1 - 0x1p-52);
}

TEST(ExactSum, SaysWhatIsNotFinite) {
  EXPECT_EQ(sumOf({1, -INFINITY}), -INFINITY);
  EXPECT_TRUE(std::isnan(sumOf({INFINITY, -INFINITY})));
  EXPECT_TRUE(std::isnan(sumOf({NAN, 1})));
}

TEST(ExactSum, IsTheSameInAnyOrderAndDividedAmongMembers) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> summands(1 + random() % 200);
    for (double &summand : summands)
      summand = std::ldexp(double(random()) - 0x1p31, int(random() % 200) - 100);
    const double expected = sumOf(summands);
    std::shuffle(summands.begin(), summands.end(), random);
    EXPECT_EQ(sumOf(summands), expected);

    std::array<ExactSum, 4> members;
    for (const double summand : summands)
      members[random() % members.size()].add(summand);
    ExactSum merged, stored;
    std::array<double, kExactNumbers> numbers, total{};
    for (const ExactSum &member : members) {
      merged.add(member);
      member.store(numbers);
      for (std::size_t place = 0; place < numbers.size(); ++place)
        total[place] += numbers[place];
    }
    stored.addStored(total);
    EXPECT_EQ(merged.value(), expected);
    EXPECT_EQ(stored.value(), expected);
  }
}

} // namespace
} // namespace vime
