// SquareSum: a sum of squares that no order and no division of its summands can change.
//
//   SquareSum sum;
//   sum.add(DataType::Float32, count, gradients);
//   sum.store(numbers);                          // kSquareNumbers float64
//   valueOfSquares({numbers, kSquareNumbers})    // the sum, rounded once
//
// Squares are added sixteen (of float64 eight) at a time in float64, by a fixed tree; these block
// sums are added exactly, as whole numbers in digits of 32 bits that cover all of float64 (a long
// accumulator, Kulisch). So stages, ranks and shares of a model come to the same bits, as long as
// each begins a tensor, or goes on with it, at a multiple of kSquareBlockBytes.
//
// Stored digits are whole float64 below 2^32: they may be added up as such, place by place, over
// more than a million members without rounding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/DataType.h"
#include "kernels/SquareNumbers.h"

namespace vime {

constexpr std::size_t kSquareBlockBytes = 64;

class SquareSum {
public:
  /// Squares of numbers of float32 or float64.
  void add(DataType type, std::uint64_t count, const void *numbers);
  void store(double *numbers);

private:
  template <typename Number> void addBlocks(std::uint64_t count, const Number *numbers);
  void addExactly(double summand);
  void carry();

  std::array<std::uint64_t, kSquareDigits> digits{};
  double notFinite = 0;
  std::uint64_t pending = 0; // summands since digits were carried
};

/// Of any number of stored sums, one behind the other. Infinite or not a number if a summand was.
double valueOfSquares(std::span<const double> numbers);

} // namespace vime
