// Reading whole and real numbers, strictly.
#include "compiler/Frontend/Numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace vime {

bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }

std::optional<std::uint64_t> wholeNumber(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), isDigit) ||
      (text.size() > 1 && text[0] == '0'))
    return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<double> realNumber(std::string_view text) {
  std::string_view rest = text;
  const auto digits = [&rest] {
    const std::size_t size = static_cast<std::size_t>(
        std::find_if_not(rest.begin(), rest.end(), isDigit) - rest.begin());
    rest.remove_prefix(size);
    return size > 0;
  };
  if (rest.starts_with('-'))
    rest.remove_prefix(1);
  if (!digits())
    return std::nullopt;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    if (!digits())
      return std::nullopt;
  }
  if (rest.starts_with('e') || rest.starts_with('E')) {
    rest.remove_prefix(1);
    if (rest.starts_with('+') || rest.starts_with('-'))
      rest.remove_prefix(1);
    if (!digits())
      return std::nullopt;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return rest.empty() && error == std::errc() && std::isfinite(number) ? std::optional(number)
                                                                       : std::nullopt;
}

std::optional<std::uint64_t> meantWhole(std::string_view text) {
  std::string plain;
  for (const char letter : text)
    if (letter != '_' && letter != ',' && letter != '+')
      plain += letter;
  if (plain.starts_with("0x") || plain.starts_with("0X")) {
    std::uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(plain.data() + 2, plain.data() + plain.size(), number, 16);
    const bool whole = error == std::errc() && end == plain.data() + plain.size();
    return whole ? std::optional(number) : std::nullopt;
  }
  while (plain.size() > 1 && plain[0] == '0' && isDigit(plain[1]))
    plain.erase(0, 1);
  constexpr double kMostExact = 9007199254740992.0; // 2^53
  if (const auto real = realNumber(plain);
      real && *real >= 0 && *real <= kMostExact && *real == std::floor(*real))
    return static_cast<std::uint64_t>(*real);
  return std::nullopt;
}

} // namespace vime
