// Reading and printing the values of a job.
#include "compiler/Frontend/Value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "compiler/Diagnostics/Nearest.h"
#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/FieldTable.h"

namespace vime {

namespace {

using Parsed = std::variant<Value, ValueProblem>;

struct Unit {
  std::string_view name;
  double times; // of the base unit
  double per;   // 1 of the base unit is so many of this
};

constexpr std::array kByteUnits = {Unit{"B", 1, 1}, Unit{"KiB", 1024.0, 1}, Unit{"MiB", 1048576.0, 1},
                                   Unit{"GiB", 1073741824.0, 1}, Unit{"TiB", 1099511627776.0, 1}};
// Dividing by 1000 rounds once; multiplying by 0.001 would round twice.
constexpr std::array kTimeUnits = {Unit{"ns", 1, 1e9}, Unit{"us", 1, 1e6},  Unit{"ms", 1, 1e3},
                                   Unit{"s", 1, 1},    Unit{"min", 60, 1}, Unit{"h", 3600, 1}};

bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  const std::string shown = printable(text);
  if (characterCount(shown) <= kLongest)
    return '`' + shown + '`';
  std::string_view rest = shown;
  for (std::size_t count = 0; count < kLongest; ++count)
    rest.remove_prefix(characterAt(rest).bytes);
  return '`' + shown.substr(0, shown.size() - rest.size()) + "…`";
}

std::string list(const std::vector<std::string_view> &words) {
  std::string text;
  for (const std::string_view word : words)
    text += (text.empty() ? "" : ", ") + ('`' + std::string(word) + '`');
  return text;
}

// --- whole and real numbers -------------------------------------------------------------------------------------

// Digits without a leading zero; nothing for any other text or beyond 64 bits.
std::optional<std::uint64_t> wholeNumber(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), isDigit) || (text.size() > 1 && text[0] == '0'))
    return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// `-?digits[.digits][e[+-]digits]`
std::optional<double> realNumber(std::string_view text) {
  std::string_view rest = text;
  const auto digits = [&rest] {
    const std::size_t size = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), isDigit) - rest.begin());
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
  return rest.empty() && error == std::errc() && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// What a text in another notation meant, where that is clear: `1e3`, `0x10`, `1_000`, `1,000`, `+5`, `007`.
std::optional<std::uint64_t> meantWhole(std::string_view text) {
  std::string plain;
  for (const char letter : text)
    if (letter != '_' && letter != ',' && letter != '+')
      plain += letter;
  if (plain.starts_with("0x") || plain.starts_with("0X")) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(plain.data() + 2, plain.data() + plain.size(), number, 16);
    const bool whole = error == std::errc() && end == plain.data() + plain.size();
    return whole ? std::optional(number) : std::nullopt;
  }
  while (plain.size() > 1 && plain[0] == '0' && isDigit(plain[1]))
    plain.erase(0, 1);
  constexpr double kMostExact = 9007199254740992.0; // 2^53
  if (const auto real = realNumber(plain); real && *real >= 0 && *real <= kMostExact && *real == std::floor(*real))
    return static_cast<std::uint64_t>(*real);
  return std::nullopt;
}

std::string limitText(const FieldSpec &field, double limit) {
  if (field.type == FieldType::Number || field.type == FieldType::Pair)
    return fmt::format("{}", limit);
  return printValue(field, field.type == FieldType::Seconds ? Value(limit) : Value(static_cast<std::uint64_t>(limit)));
}

std::optional<ValueProblem> outOfRange(const FieldSpec &field, double number, std::string_view text) {
  if (field.positive ? number <= field.least : number < field.least)
    return ValueProblem{.code = JobCode::Range,
                        .message = fmt::format("is {}, must be {} {}", printable(text), field.positive ? "more than" : "at least",
                                               limitText(field, field.least)),
                        .label = "too small"};
  if (number > field.most)
    return ValueProblem{.code = JobCode::Range,
                        .message = fmt::format("is {}, must be at most {}", printable(text), limitText(field, field.most)),
                        .label = "too large"};
  return std::nullopt;
}

// --- units -------------------------------------------------------------------------------------------------------

// `80 GiB` → `80`, `GiB`: the number ends where the last digit, or what belongs to a real number, ends.
std::pair<std::string_view, std::string_view> splitUnit(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (isDigit(text[end]) || text[end] == '.' || text[end] == '-' || text[end] == '_' ||
                               (end > 0 && text[end] == '+') ||
                               (text[end] == 'e' && end + 1 < text.size() && (isDigit(text[end + 1]) || text[end + 1] == '-' || text[end + 1] == '+'))))
    ++end;
  std::string_view unit = text.substr(end);
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  return {text.substr(0, end), unit};
}

ValueProblem badWhole(std::string_view text, std::string_view unit = {}) {
  const std::string behind = unit.empty() ? "" : ' ' + std::string(unit);
  ValueProblem problem{.message = "is no whole number: " + quoted(text), .label = "digits only"};
  if (const auto meant = meantWhole(text))
    problem.help = fmt::format("write `{}{}`", *meant, behind);
  return problem;
}

Parsed parseCount(const FieldSpec &field, std::string_view text) {
  std::string_view digits = text;
  if (!field.unit.empty()) {
    const auto [number, unit] = splitUnit(text);
    const std::string_view singular = field.unit.substr(0, field.unit.size() - 1);
    const auto &later = field.laterWords;
    const std::string help = fmt::format("write `{} {}`", wholeNumber(number) ? number : "4", field.unit);
    if (!number.empty() && std::find(later.begin(), later.end(), unit) != later.end())
      return ValueProblem{JobCode::LaterValue, fmt::format("in {} asks for something vime cannot do yet", unit),
                          fmt::format("only in {}", field.unit), fmt::format("give the size in {}, as in `4 {}`", field.unit, field.unit)};
    if (!number.empty() && unit.empty())
      return ValueProblem{JobCode::Unit, "lacks its unit", fmt::format("{} of what?", printable(text)), help};
    if (!number.empty() && unit != field.unit && unit != singular)
      return ValueProblem{JobCode::Unit, fmt::format("is counted in {}, not in {}", field.unit, quoted(unit)),
                          fmt::format("expected {}", field.unit), help};
    digits = number;
  }
  const auto number = wholeNumber(digits);
  if (!number && !digits.empty() && std::all_of(digits.begin(), digits.end(), isDigit) && digits[0] != '0')
    return *outOfRange(field, std::numeric_limits<double>::infinity(), text);
  if (!number && digits.starts_with('-') && wholeNumber(digits.substr(1)))
    return *outOfRange(field, -1, text);
  if (!number)
    return badWhole(text, digits.empty() ? std::string_view() : field.unit);
  if (auto problem = outOfRange(field, static_cast<double>(*number), text))
    return *problem;
  return Value(*number);
}

Parsed parseNumber(const FieldSpec &field, std::string_view text) {
  const auto number = realNumber(text);
  if (!number) {
    ValueProblem problem{.message = "is no number: " + quoted(text), .label = "expected a number such as 3.0e-4"};
    if (text.starts_with('.') && realNumber('0' + std::string(text)))
      problem.help = fmt::format("write `0{}`", text);
    else if (text.ends_with('.') && realNumber(std::string(text) + '0'))
      problem.help = fmt::format("write `{}0`", text);
    return problem;
  }
  if (auto problem = outOfRange(field, *number, text))
    return *problem;
  return Value(*number == 0 ? 0.0 : *number); // no negative zero
}

std::string namesOf(const auto &units) {
  std::string names;
  for (const Unit &unit : units)
    names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

ValueProblem badUnit(std::string_view text, std::string_view unit, const std::string &names, const std::string &example) {
  if (unit.empty())
    return {JobCode::Unit, "lacks its unit", fmt::format("{} of what?", printable(text)),
            fmt::format("the units are {}, as in `{}`", names, example)};
  return {JobCode::Unit, fmt::format("has an unknown unit: {}", quoted(unit)), "no unit of this value",
          fmt::format("the units are {}, as in `{}`", names, example)};
}

const Unit *findUnit(const auto &units, std::string_view name) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit &unit) { return unit.name == name; });
  return found == units.end() ? nullptr : &*found;
}

Parsed parseBytes(const FieldSpec &field, std::string_view text) {
  const auto [digits, name] = splitUnit(text);
  if (digits.empty())
    return ValueProblem{.message = "is no size: " + quoted(text), .label = "expected a size such as 80GiB"};
  const Unit *unit = findUnit(kByteUnits, name);
  if (!unit)
    return badUnit(text, name, namesOf(kByteUnits), "80GiB");
  const auto number = wholeNumber(digits);
  if (!number) {
    ValueProblem problem = badWhole(digits);
    if (const auto real = realNumber(digits); real && *real > 0 && *real < 1e6 && unit->times > 1 && problem.help.empty())
      problem.help = fmt::format("use a smaller unit: `{}{}`", static_cast<std::uint64_t>(*real * 1024),
                                 std::prev(unit)->name);
    return problem;
  }
  const double bytes = static_cast<double>(*number) * unit->times;
  if (auto problem = outOfRange(field, bytes, text))
    return *problem;
  return Value(*number * static_cast<std::uint64_t>(unit->times));
}

Parsed parseSeconds(const FieldSpec &field, std::string_view text) {
  const auto [digits, name] = splitUnit(text);
  const auto number = realNumber(digits);
  if (!number)
    return ValueProblem{.message = "is no duration: " + quoted(text), .label = "expected a duration such as 600s"};
  const Unit *unit = findUnit(kTimeUnits, name);
  if (!unit)
    return badUnit(text, name, namesOf(kTimeUnits), "600s");
  const double seconds = *number * unit->times / unit->per;
  if (auto problem = outOfRange(field, seconds, text))
    return *problem;
  return Value(seconds == 0 ? 0.0 : seconds);
}

Parsed parseWord(const FieldSpec &field, std::string_view text) {
  if (std::find(field.words.begin(), field.words.end(), text) != field.words.end())
    return Value(std::string(text));
  const std::string known = (field.words.size() == 1 ? "only " : "one of ") + list(field.words);
  if (std::find(field.laterWords.begin(), field.laterWords.end(), text) != field.laterWords.end())
    return ValueProblem{JobCode::LaterValue, "asks for something vime cannot do yet: " + quoted(text), "not there yet",
                        "what there is: " + list(field.words)};
  ValueProblem problem{JobCode::UnknownWord, "cannot be " + quoted(text), known, {}};
  if (const auto near = nearest(text, field.words))
    problem.help = fmt::format("a similar word exists: `{}`", *near);
  return problem;
}

Parsed parseName(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  const bool legal = std::all_of(text.begin(), text.end(), [](char letter) {
    return isDigit(letter) || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
           letter == '-' || letter == '.';
  });
  if (text.empty() || !legal || text.size() > kLongest)
    return ValueProblem{JobCode::Name, "is no name: " + quoted(text),
                        "1 to 100 letters, digits, `.`, `_` or `-`", {}};
  return Value(std::string(text));
}

Parsed parsePath(std::string_view text) {
  constexpr std::size_t kLongest = 4096;
  std::string_view rest = text;
  bool legal = !text.empty() && text.size() <= kLongest;
  while (!rest.empty()) {
    const Character character = characterAt(rest);
    legal = legal && character.legal && !isControl(character.code);
    rest.remove_prefix(character.bytes);
  }
  if (!legal)
    return ValueProblem{JobCode::WrongType, "is no path: " + quoted(text), text.empty() ? "empty" : "expected a path", {}};
  return Value(std::string(text));
}

Parsed parseRanks(const FieldSpec &field, std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = wholeNumber(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : wholeNumber(text.substr(dash + 1));
  if (!first || !last)
    return ValueProblem{.message = "is no range of ranks: " + quoted(text), .label = "expected first and last rank, as in 0-3"};
  if (*last < *first)
    return ValueProblem{JobCode::Range, "is an empty range: " + quoted(text), "the last rank is before the first",
                        fmt::format("write `{}-{}`", *last, *first)};
  if (auto problem = outOfRange(field, static_cast<double>(*last), std::to_string(*last)))
    return *problem;
  return Value(RankRange{static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last - *first + 1)});
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

Parsed parsePair(const FieldSpec &field, std::string_view text) {
  const std::size_t comma = text.find(',');
  const bool bracketed = text.starts_with('[') && text.ends_with(']') && comma != std::string_view::npos;
  if (!bracketed || text.find(',', comma + 1) != std::string_view::npos)
    return ValueProblem{.message = "is no pair: " + quoted(text),
                        .label = "expected two numbers, as in " + std::string(field.fallback)};
  NumberPair pair;
  for (const auto &[part, number] : {std::pair(text.substr(1, comma - 1), &pair.first),
                                     std::pair(text.substr(comma + 1, text.size() - comma - 2), &pair.second)}) {
    const Parsed parsed = parseNumber(field, trimmed(part));
    if (const auto *problem = std::get_if<ValueProblem>(&parsed))
      return *problem;
    *number = std::get<double>(std::get<Value>(parsed));
  }
  return Value(pair);
}

std::string printSeconds(double seconds) {
  const FieldSpec any{.type = FieldType::Seconds, .most = std::numeric_limits<double>::max()};
  for (const std::string_view name : {"s", "ms", "us", "ns"}) {
    const Unit *unit = findUnit(kTimeUnits, name);
    const double count = seconds * unit->per;
    if (count < 1 && name != "ns")
      continue;
    const std::string text = fmt::format("{}{}{}", count, name == "s" ? "" : " ", name);
    const Parsed again = parseSeconds(any, text);
    if (const auto *value = std::get_if<Value>(&again); value && std::get<double>(*value) == seconds)
      return text;
  }
  return fmt::format("{}s", seconds); // exact, if not pretty
}

std::string printBytes(std::uint64_t bytes) {
  const Unit *best = &kByteUnits[0];
  for (const Unit &unit : kByteUnits)
    if (bytes > 0 && bytes % static_cast<std::uint64_t>(unit.times) == 0)
      best = &unit;
  return fmt::format("{}{}", bytes / static_cast<std::uint64_t>(best->times), best->name);
}

} // namespace

Parsed parseValue(const FieldSpec &field, std::string_view text) {
  switch (field.type) {
  case FieldType::Section:
    break;
  case FieldType::Count:
    return parseCount(field, text);
  case FieldType::Number:
    return parseNumber(field, text);
  case FieldType::Bytes:
    return parseBytes(field, text);
  case FieldType::Seconds:
    return parseSeconds(field, text);
  case FieldType::Word:
    return parseWord(field, text);
  case FieldType::Name:
    return parseName(text);
  case FieldType::Path:
    return parsePath(text);
  case FieldType::Ranks:
    return parseRanks(field, text);
  case FieldType::Pair:
    return parsePair(field, text);
  }
  return ValueProblem{.code = JobCode::NotASection, .message = "must be a mapping of keys to values"};
}

std::string printValue(const FieldSpec &field, const Value &value) {
  switch (field.type) {
  case FieldType::Count: {
    const std::uint64_t count = std::get<std::uint64_t>(value);
    if (field.unit.empty())
      return std::to_string(count);
    return fmt::format("{} {}", count, field.unit.substr(0, field.unit.size() - (count == 1 ? 1 : 0)));
  }
  case FieldType::Number:
    return fmt::format("{}", std::get<double>(value));
  case FieldType::Bytes:
    return printBytes(std::get<std::uint64_t>(value));
  case FieldType::Seconds:
    return printSeconds(std::get<double>(value));
  case FieldType::Ranks: {
    const RankRange range = std::get<RankRange>(value);
    return range.count == 1 ? std::to_string(range.first) : fmt::format("{}-{}", range.first, range.first + range.count - 1);
  }
  case FieldType::Pair: {
    const auto [first, second] = std::get<NumberPair>(value);
    return fmt::format("[{}, {}]", first, second);
  }
  default:
    return std::get<std::string>(value);
  }
}

} // namespace vime
