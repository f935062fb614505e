#include "kernels/SquareSum.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace vime {
namespace {

constexpr int kDigitBits = 32;
constexpr std::uint64_t kDigitMask = (std::uint64_t{1} << kDigitBits) - 1;
constexpr int kLeastExponent = -1074; // of a bit of a float64
constexpr std::uint64_t kMostPending = std::uint64_t{1} << 31;

} // namespace

void SquareSum::add(DataType type, std::uint64_t count, const void *numbers) {
  if (type == DataType::Float64)
    addBlocks(count, static_cast<const double *>(numbers));
  else
    addBlocks(count, static_cast<const float *>(numbers));
}

namespace {

/// Of a block, by a tree: its first half and its second, element by element, and so on.
template <std::size_t kCount> double sumOf(const double *squares) {
  if constexpr (kCount == 1) {
    return squares[0];
  } else {
    double halves[kCount / 2];
    for (std::size_t index = 0; index < kCount / 2; ++index)
      halves[index] = squares[index] + squares[index + kCount / 2];
    return sumOf<kCount / 2>(halves);
  }
}

template <std::size_t kBlock, typename Number> double squaresOf(const Number *numbers) {
  double squares[kBlock];
  for (std::size_t index = 0; index < kBlock; ++index)
    squares[index] = double(numbers[index]) * double(numbers[index]);
  return sumOf<kBlock>(squares);
}

} // namespace

template <typename Number> void SquareSum::addBlocks(std::uint64_t count, const Number *numbers) {
  constexpr std::size_t kBlock = kSquareBlockBytes / sizeof(Number);
  std::uint64_t at = 0;
  for (; at + kBlock <= count; at += kBlock)
    addExactly(squaresOf<kBlock>(numbers + at));
  if (at == count)
    return;
  Number rest[kBlock] = {};
  std::copy_n(numbers + at, count - at, rest);
  addExactly(squaresOf<kBlock>(rest));
}

inline void SquareSum::addExactly(double summand) {
  const auto bits = std::bit_cast<std::uint64_t>(summand);
  const auto exponent = static_cast<int>(bits >> 52 & 0x7FF);
  if (exponent == 0x7FF) {
    notFinite += summand;
    return;
  }
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t mantissa = exponent == 0 ? fraction : fraction | std::uint64_t{1} << 52;
  const int place = exponent == 0 ? 0 : exponent - 1; // of the lowest bit
  const auto shifted = static_cast<unsigned __int128>(mantissa) << place % kDigitBits;
  std::uint64_t *digit = digits.data() + place / kDigitBits;
  digit[0] += static_cast<std::uint64_t>(shifted) & kDigitMask;
  digit[1] += static_cast<std::uint64_t>(shifted >> kDigitBits) & kDigitMask;
  digit[2] += static_cast<std::uint64_t>(shifted >> 2 * kDigitBits);
  if (++pending == kMostPending)
    carry();
}

void SquareSum::carry() {
  std::uint64_t over = 0;
  for (std::uint64_t &digit : digits) {
    digit += over;
    over = digit >> kDigitBits;
    digit &= kDigitMask;
  }
  pending = 0;
}

void SquareSum::store(double *numbers) {
  carry();
  std::fill_n(numbers, kSquareNumbers, 0.0);
  std::copy(digits.begin(), digits.end(), numbers);
  numbers[kSquareDigits] = notFinite;
}

double valueOfSquares(std::span<const double> numbers) {
  std::array<std::uint64_t, kSquareDigits> digits{};
  double notFinite = 0;
  for (std::size_t first = 0; first + kSquareNumbers <= numbers.size(); first += kSquareNumbers) {
    for (std::size_t digit = 0; digit < kSquareDigits; ++digit)
      digits[digit] += static_cast<std::uint64_t>(numbers[first + digit]);
    notFinite += numbers[first + kSquareDigits];
  }
  if (notFinite != 0) // also where it is not a number
    return notFinite;
  std::uint64_t over = 0;
  for (std::uint64_t &digit : digits) {
    digit += over;
    over = digit >> kDigitBits;
    digit &= kDigitMask;
  }
  std::size_t top = kSquareDigits;
  while (top != 0 && digits[top - 1] == 0)
    --top;
  if (top == 0)
    return 0;
  // The three highest digits, of which 64 bits and whether anything is below them decide.
  unsigned __int128 high = 0;
  const std::size_t low = top < 3 ? 0 : top - 3;
  for (std::size_t digit = top; digit-- > low;)
    high = high << kDigitBits | digits[digit];
  bool rest = std::any_of(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(low),
                          [](std::uint64_t digit) { return digit != 0; });
  int drop = 0;
  while (high >> drop >> 64 != 0)
    ++drop;
  rest = rest || (high & ((static_cast<unsigned __int128>(1) << drop) - 1)) != 0;
  const std::uint64_t kept = static_cast<std::uint64_t>(high >> drop) | (rest ? 1 : 0);
  return std::ldexp(static_cast<double>(kept),
                    static_cast<int>(low) * kDigitBits + drop + kLeastExponent);
}

} // namespace vime
