#include "runtime/Reward/FinalAnswer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace vime {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f", kMarker = "####", kBox = "\\boxed{";
constexpr double kTolerance = 1e-6;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// Up to the brace that closes the one before `text`; nothing where none does.
std::optional<std::string_view> insideBraces(std::string_view text) {
  std::size_t open = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    open += text[at] == '{';
    open -= text[at] == '}';
    if (open == 0)
      return text.substr(0, at);
  }
  return std::nullopt;
}

bool isDigit(char byte) { return byte >= '0' && byte <= '9'; }
bool isLetter(char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'); }

/// A number written at a place of a text.
class Scanner {
public:
  Scanner(std::string_view text, std::size_t begin) : text(text), at(begin) {}

  std::size_t end() const { return at; }
  /// Moves behind the number, if there is one.
  std::optional<std::string> take() {
    std::string number = groupedDigits();
    if (peek() == '.' && isDigit(peek(1))) {
      number += number.empty() ? "0." : ".";
      ++at;
      number += digits();
    }
    if (!number.empty() && (peek() == 'e' || peek() == 'E'))
      number += exponent();
    return number.empty() ? std::nullopt : std::optional(number);
  }

private:
  char peek(std::size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }
  std::string digits() {
    std::string found;
    while (isDigit(peek()))
      found += text[at++];
    return found;
  }
  /// `12`, `1,234`; of `12,34` the first two.
  std::string groupedDigits() {
    std::string found = digits();
    while (!found.empty() && found.size() <= 3 + grouped && peek() == ',' && isDigit(peek(1)) &&
           isDigit(peek(2)) && isDigit(peek(3)) && !isDigit(peek(4))) {
      ++at;
      found += digits();
      grouped += 3;
    }
    return found;
  }
  std::string exponent() {
    const bool isSigned = peek(1) == '+' || peek(1) == '-';
    if (!isDigit(peek(isSigned ? 2 : 1)))
      return {};
    std::string found = "e";
    ++at;
    if (isSigned) {
      if (peek() == '-')
        found += '-';
      ++at;
    }
    return found + digits();
  }

  const std::string_view text;
  std::size_t at, grouped = 0;
};

/// Whether the number that begins there has a minus in front.
bool isNegative(std::string_view text, std::size_t begin) {
  if (begin == 0 || text[begin - 1] != '-')
    return false;
  if (begin == 1)
    return true;
  const char before = text[begin - 2];
  return !isDigit(before) && !isLetter(before) && before != ')' && before != ']' && before != '}';
}

bool isWhole(const std::string &number) { return number.find_first_of(".e") == number.npos; }

/// Without zeros in front; -0 is 0.
std::string plainDigits(const std::string &number) {
  const bool negative = number.front() == '-';
  const std::size_t first = number.find_first_not_of('0', negative ? 1 : 0);
  if (first == number.npos)
    return "0";
  return (negative ? "-" : "") + number.substr(first);
}

} // namespace

std::string_view finalAnswer(std::string_view text) {
  const std::size_t marker = text.rfind(kMarker), box = text.rfind(kBox);
  if (box != text.npos && (marker == text.npos || box > marker))
    if (const auto inside = insideBraces(text.substr(box + kBox.size())))
      return trimmed(*inside);
  if (marker == text.npos)
    return trimmed(text);
  const std::string_view behind = text.substr(marker + kMarker.size());
  return trimmed(behind.substr(0, behind.find('\n')));
}

std::optional<std::string> lastNumber(std::string_view text) {
  std::optional<std::string> last;
  for (std::size_t at = 0; at < text.size();) {
    Scanner scanner(text, at);
    const std::optional<std::string> number = scanner.take();
    if (number)
      last = (isNegative(text, at) ? "-" : "") + *number;
    at = number ? scanner.end() : at + 1;
  }
  return last;
}

bool sameNumber(const std::string &one, const std::string &other) {
  if (isWhole(one) && isWhole(other))
    return plainDigits(one) == plainDigits(other);
  double first = 0, second = 0;
  const auto isParsed = [](const std::string &text, double &number) {
    return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
  };
  if (!isParsed(one, first) || !isParsed(other, second))
    return one == other; // too large or too small for any double
  return std::abs(first - second) <= kTolerance * std::max(std::abs(first), std::abs(second));
}

} // namespace vime
