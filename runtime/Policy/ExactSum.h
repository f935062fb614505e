// ExactSum: a sum of float64 that no order and no division of its summands can change.
//
//   ExactSum sum;
//   sum.add(1e300);
//   sum.add(0.125);
//   sum.add(-1e300);
//   sum.value()                    // 0.125: rounded once, at the end
//
// What a step reports or divides by is summed so, and has the same bits for every packing, split
// into microbatches and number of replicas. Like SquareSum it adds whole numbers in digits of 32
// bits that cover all of float64, here with signs. Stored digits are whole float64 below 2^32 in
// size: they may be added up as such, place by place, over more than a million members.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/SquareNumbers.h"

namespace vime {

constexpr std::size_t kExactNumbers = kSquareNumbers;

class ExactSum {
public:
  void add(double summand);
  void add(const ExactSum &other);
  /// What store() wrote, or the sum, place by place, of what several wrote.
  void addStored(std::span<const double, kExactNumbers> numbers);
  void store(std::span<double, kExactNumbers> numbers) const;
  /// Infinite or not a number if a summand was.
  double value() const;

private:
  using Digits = std::array<std::int64_t, kSquareDigits>;
  void addDigits(const Digits &others);
  void carry();

  Digits digits{}; // the last alone is negative after carry()
  double notFinite = 0;
  std::uint64_t pending = 0; // summands since digits were carried
};

} // namespace vime
