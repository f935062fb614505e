// SquareNumbers: what a stored sum of squares is made of (SquareSum.h).
#pragma once

#include <cstddef>

namespace vime {

/// Digits, least first, what is not finite (else 0), and zeros: float64.
constexpr std::size_t kSquareDigits = 68, kSquareNumbers = 72;

} // namespace vime
