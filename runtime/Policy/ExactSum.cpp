#include "runtime/Policy/ExactSum.h"

#include <algorithm>
#include <bit>

#include "kernels/SquareSum.h"

namespace vime {
namespace {

constexpr int kDigitBits = 32;
constexpr std::int64_t kDigitMask = (std::int64_t{1} << kDigitBits) - 1;
constexpr std::uint64_t kMostPending = std::uint64_t{1} << 30;

} // namespace

void ExactSum::add(double summand) {
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
  const std::int64_t sign = bits >> 63 != 0 ? -1 : 1;
  std::int64_t *digit = digits.data() + place / kDigitBits;
  digit[0] += sign * (static_cast<std::int64_t>(shifted) & kDigitMask);
  digit[1] += sign * (static_cast<std::int64_t>(shifted >> kDigitBits) & kDigitMask);
  digit[2] += sign * static_cast<std::int64_t>(shifted >> 2 * kDigitBits);
  if (++pending == kMostPending)
    carry();
}

void ExactSum::add(const ExactSum &other) {
  ExactSum carried = other;
  carried.carry();
  addDigits(carried.digits);
  notFinite += carried.notFinite;
}

void ExactSum::addStored(std::span<const double, kExactNumbers> numbers) {
  Digits others;
  std::transform(numbers.begin(), numbers.begin() + kSquareDigits, others.begin(),
                 [](double digit) { return static_cast<std::int64_t>(digit); });
  addDigits(others);
  notFinite += numbers[kSquareDigits];
}

/// Sums of stored digits may be far larger than digits: they are carried at once.
void ExactSum::addDigits(const Digits &others) {
  for (std::size_t digit = 0; digit < kSquareDigits; ++digit)
    digits[digit] += others[digit];
  carry();
}

void ExactSum::carry() {
  std::int64_t over = 0;
  for (std::size_t digit = 0; digit + 1 < kSquareDigits; ++digit) {
    digits[digit] += over;
    over = digits[digit] >> kDigitBits; // towards minus infinity
    digits[digit] &= kDigitMask;
  }
  digits.back() += over;
  pending = 0;
}

void ExactSum::store(std::span<double, kExactNumbers> numbers) const {
  ExactSum carried = *this;
  carried.carry();
  std::fill(numbers.begin(), numbers.end(), 0.0);
  std::copy(carried.digits.begin(), carried.digits.end(), numbers.begin());
  numbers[kSquareDigits] = notFinite;
}

double ExactSum::value() const {
  ExactSum size = *this;
  size.carry();
  const bool negative = size.digits.back() < 0;
  if (negative) {
    for (std::int64_t &digit : size.digits)
      digit = -digit;
    size.carry();
  }
  std::array<double, kExactNumbers> numbers;
  size.store(numbers);
  const double value = valueOfSquares(numbers);
  return negative && notFinite == 0 ? -value : value;
}

} // namespace vime
