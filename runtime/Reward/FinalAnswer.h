// FinalAnswer: which part of a text is what it says in the end, and which number.
//
//   finalAnswer("6 times 7\n#### 42 \n")           // "42"
//   finalAnswer("so it is \\boxed{\\frac{1}{2}}.") // "\\frac{1}{2}"
//   finalAnswer(" 42\n")                            // "42"
//   lastNumber("it costs $1,234.50.")               // "1234.50"
//
// Behind the last `####`, what is left of its line (GSM8K); of the last `\boxed{…}`, what is
// between the braces (MATH); whichever of the two stands later; else all of it. Without space
// around.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vime {

std::string_view finalAnswer(std::string_view text);

/// The last number, without the commas that group its digits. A sign is part of it unless it
/// stands behind a letter, a digit or a bracket that closes, as in `5-3`.
std::optional<std::string> lastNumber(std::string_view text);

/// Whole numbers: the same digits. Others: 1e-6 apart at most, relative to the larger one.
bool sameNumber(const std::string &one, const std::string &other);

} // namespace vime
