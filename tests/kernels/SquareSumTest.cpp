// Sums of squares: exact from block to block, so alike for every order and division.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/SquareSum.h"

namespace vime {
namespace {

template <typename Number> constexpr DataType kType = DataType::Float32;
template <> constexpr DataType kType<double> = DataType::Float64;

template <typename Number> std::vector<double> sumOf(const Number *numbers, std::uint64_t count) {
  SquareSum sum;
  sum.add(kType<Number>, count, numbers);
  std::vector<double> stored(kSquareNumbers);
  sum.store(stored.data());
  return stored;
}

template <typename Number> double squared(const std::vector<Number> &numbers) {
  return valueOfSquares(sumOf(numbers.data(), numbers.size()));
}

/// Of very different sizes.
template <typename Number> std::vector<Number> mixture(std::size_t count) {
  std::vector<Number> numbers(count);
  std::uint64_t state = 1;
  for (Number &number : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    number = static_cast<Number>(
        std::ldexp(double(state >> 40) - double(1 << 23), static_cast<int>(state >> 33 & 31) - 40));
  }
  return numbers;
}

template <typename Number> void expectOneValue() {
  constexpr std::size_t kBlock = kSquareBlockBytes / sizeof(Number);
  const std::vector<Number> numbers = mixture<Number>(100 * kBlock + 3);
  const double whole = squared(numbers);
  long double plain = 0;
  for (const Number number : numbers)
    plain += static_cast<long double>(number) * number;
  EXPECT_NEAR(whole, static_cast<double>(plain), 1e-14 * whole);
  for (const std::size_t share : {1, 7, 50, 99, 200}) {
    std::vector<double> together(kSquareNumbers), apart;
    std::size_t members = 0;
    for (std::size_t first = 0; first < numbers.size(); first += share * kBlock, ++members) {
      const auto part =
          sumOf(numbers.data() + first, std::min(share * kBlock, numbers.size() - first));
      apart.insert(apart.begin(), part.begin(), part.end()); // the last one first
      for (std::size_t place = 0; place < kSquareNumbers; ++place)
        together[place] += part[place];
    }
    EXPECT_EQ(valueOfSquares(apart), whole) << members << " shares, descending";
    EXPECT_EQ(valueOfSquares(together), whole) << members << " shares, added place by place";
  }
}

TEST(SquareSum, IsTheSameHoweverItIsDivided) {
  expectOneValue<float>();
  expectOneValue<double>();
}

TEST(SquareSum, RoundsOnce) {
  constexpr std::size_t kBlock = kSquareBlockBytes / sizeof(double);
  std::vector<double> numbers(4 * kBlock, 0.0);
  numbers[0] = 1;
  numbers[kBlock] = numbers[2 * kBlock] = std::ldexp(1.0, -27); // half of the last place: to even
  EXPECT_EQ(squared(numbers), 1);
  numbers[3 * kBlock] = std::ldexp(1.0, -500); // far below, but more than half
  EXPECT_EQ(squared(numbers), 1 + std::ldexp(1.0, -52));
}

TEST(SquareSum, CoversAllOfFloat64) {
  using Limits = std::numeric_limits<double>;
  EXPECT_EQ(squared(std::vector<double>{}), 0);
  EXPECT_EQ(squared(std::vector<double>{std::ldexp(1.0, -537)}), Limits::denorm_min());
  EXPECT_EQ(squared(std::vector<double>{std::ldexp(1.0, 511)}), std::ldexp(1.0, 1022));
  // Larger than any float64 as a whole, though no summand is.
  EXPECT_EQ(squared(std::vector<double>(64, std::ldexp(1.0, 510))), Limits::infinity());
  EXPECT_EQ(squared(std::vector<double>{1, Limits::infinity()}), Limits::infinity());
  EXPECT_EQ(squared(std::vector<double>{1, 1e300}), Limits::infinity());
  EXPECT_TRUE(std::isnan(squared(std::vector<double>{1, Limits::quiet_NaN()})));
  EXPECT_TRUE(std::isnan(squared(std::vector<float>{std::nanf(""), 1, 2})));
}

} // namespace
} // namespace vime
