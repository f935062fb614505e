// Numbers: the notations that a job may write numbers in, and those that it may not.
//
//   wholeNumber("8")       // 8
//   wholeNumber("0x8")     // nothing
//   meantWhole("1e3")      // 1000: what to write instead
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vime {

bool isDigit(char letter);

/// Digits without a leading zero; nothing for any other text, or beyond 64 bits.
std::optional<std::uint64_t> wholeNumber(std::string_view text);

/// `-?digits[.digits][e[+-]digits]`, finite.
std::optional<double> realNumber(std::string_view text);

/// What a text in another notation means, where that is clear: `1e3`, `0x10`, `1_000`, `1,000`,
/// `+5`, `007`.
std::optional<std::uint64_t> meantWhole(std::string_view text);

} // namespace vime
