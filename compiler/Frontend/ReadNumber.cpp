// Reading the values that are numbers: counts, reals, sizes, durations, ranks, pairs.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/FieldTable.h"
#include "compiler/Frontend/LayoutText.h"
#include "compiler/Frontend/Numbers.h"
#include "compiler/Frontend/ReadValue.h"
#include "compiler/Frontend/Units.h"

namespace vime {

namespace {

std::string limitText(const FieldSpec &field, double limit) {
  switch (field.type) {
  case FieldType::Seconds:
    return printValue(field, limit);
  case FieldType::Count:
  case FieldType::Bytes:
    return printValue(field, static_cast<std::uint64_t>(limit));
  default:
    return fmt::format("{}", limit);
  }
}

std::optional<ValueProblem> outOfRange(const FieldSpec &field, double number,
                                       std::string_view text) {
  if (field.above ? number <= field.least : number < field.least)
    return ValueProblem{.code = JobCode::Range,
                        .message = fmt::format("is {}, must be {} {}", printable(text),
                                               field.above ? "more than" : "at least",
                                               limitText(field, field.least)),
                        .label = "too small"};
  if (field.below ? number >= field.most : number > field.most)
    return ValueProblem{.code = JobCode::Range,
                        .message = fmt::format("is {}, must be {} {}", printable(text),
                                               field.below ? "less than" : "at most",
                                               limitText(field, field.most)),
                        .label = "too large"};
  return std::nullopt;
}

/// `128k` in digits, in thousands and in 1024s, or "".
std::string inDigits(std::string_view number, std::string_view suffix, std::string_view behind) {
  const auto digits = wholeNumber(number);
  const bool isKilo = suffix == "k" || suffix == "K", isMega = suffix == "m" || suffix == "M";
  if (!digits || *digits > 1'000'000 || (!isKilo && !isMega))
    return {};
  const std::uint64_t thousands = *digits * (isKilo ? 1000 : 1'000'000),
                      binary = *digits * (isKilo ? 1024 : 1024 * 1024);
  return fmt::format("write `{}{}` or `{}{}`", thousands, behind, binary, behind);
}

ValueProblem badWhole(std::string_view text, std::string_view unit = {}) {
  const std::string behind = unit.empty() ? "" : ' ' + std::string(unit);
  ValueProblem problem{.message = "is no whole number: " + quoted(text), .label = "digits only"};
  const auto [number, word] = splitUnit(text);
  constexpr std::size_t kShortestNoun = 4; // `200 steps`, and not `256M`
  if (const auto meant = meantWhole(text))
    problem.help = fmt::format("write `{}{}`", *meant, behind);
  else if (wholeNumber(number) && word.size() >= kShortestNoun)
    problem.help = fmt::format("write `{}{}`", number, behind);
  else
    problem.help = inDigits(number, word, behind);
  return problem;
}

/// `16GB` is `16GiB` to most who write it, or "".
std::string meantSize(std::string_view number, std::string_view unit) {
  for (const Unit &known : byteUnits().subspan(1))
    if (!unit.empty() && (unit[0] & ~0x20) == known.name[0] && unit.size() <= known.name.size())
      return fmt::format("write `{}{}`; the units are {}", number, known.name,
                         namesOf(byteUnits()));
  return {};
}

ValueProblem badUnit(std::string_view text, std::string_view unit, const std::string &names,
                     const std::string &example) {
  if (unit.empty())
    return {JobCode::Unit, "lacks its unit", fmt::format("{} of what?", printable(text)),
            fmt::format("the units are {}, as in `{}`", names, example)};
  return {JobCode::Unit, fmt::format("has an unknown unit: {}", quoted(unit)),
          "no unit of this value", fmt::format("the units are {}, as in `{}`", names, example)};
}

} // namespace

Parsed parseCount(const FieldSpec &field, std::string_view text) {
  std::string_view digits = text;
  if (!field.unit.empty()) {
    const auto [number, unit] = splitUnit(text);
    const std::string_view singular = field.unit.substr(0, field.unit.size() - 1);
    const auto &later = field.laterWords;
    std::string help =
        inDigits(number, unit.substr(0, unit.find(' ')), fmt::format(" {}", field.unit));
    if (help.empty())
      help = fmt::format("write `{} {}`", wholeNumber(number) ? number : std::string_view("4"),
                         field.unit);
    if (!number.empty() && std::find(later.begin(), later.end(), unit) != later.end())
      return ValueProblem{JobCode::LaterValue,
                          fmt::format("in {} asks for something vime cannot do yet", unit),
                          fmt::format("only in {}", field.unit),
                          fmt::format("give the size in {}, as in `4 {}`", field.unit, field.unit)};
    if (!number.empty() && unit.empty())
      return ValueProblem{JobCode::Unit, "lacks its unit",
                          fmt::format("{} of what?", printable(text)), help};
    if (!number.empty() && unit != field.unit && unit != singular)
      return ValueProblem{JobCode::Unit,
                          fmt::format("is counted in {}, not in {}", field.unit, quoted(unit)),
                          fmt::format("expected {}", field.unit), help};
    digits = number;
  }
  const auto number = wholeNumber(digits);
  if (!number && !digits.empty() && std::all_of(digits.begin(), digits.end(), isDigit) &&
      digits[0] != '0')
    return *outOfRange(field, std::numeric_limits<double>::infinity(), text);
  if (!number && digits.starts_with('-') && wholeNumber(digits.substr(1)))
    return *outOfRange(field, -1, text);
  if (!number)
    return badWhole(text, digits.empty() ? std::string_view() : field.unit);
  if (auto problem = outOfRange(field, static_cast<double>(*number), text))
    return *problem;
  return Value(*number);
}

Parsed parseAmount(const FieldSpec &field, std::string_view text) {
  const auto [number, unit] = splitUnit(text);
  const bool inOther =
      unit == field.otherUnit || unit == field.otherUnit.substr(0, field.otherUnit.size() - 1);
  const bool isKnown = inOther || unit.empty() || unit == field.unit ||
                       unit == field.unit.substr(0, field.unit.size() - 1);
  const std::string_view shown = wholeNumber(number) ? number : "4";
  const std::string_view noun =
      unit.find(field.otherUnit) == unit.npos ? field.unit : field.otherUnit;
  std::string help = inDigits(number, unit.substr(0, unit.find(' ')), fmt::format(" {}", noun));
  if (help.empty())
    help = fmt::format("write `{} {}` or `{} {}`", shown, field.unit, shown, field.otherUnit);
  if (!number.empty() && !isKnown)
    return ValueProblem{
        JobCode::Unit,
        fmt::format("is counted in {} or {}, not in {}", field.unit, field.otherUnit, quoted(unit)),
        fmt::format("expected {} or {}", field.unit, field.otherUnit), help};
  FieldSpec counted = field;
  counted.type = FieldType::Count;
  counted.unit = inOther ? field.otherUnit : field.unit;
  counted.most = inOther ? field.mostOther : field.most;
  Parsed parsed = parseCount(counted, text);
  if (const auto *value = std::get_if<Value>(&parsed))
    return Value(Quantity{std::get<std::uint64_t>(*value), inOther});
  auto &problem = std::get<ValueProblem>(parsed);
  if (problem.code == JobCode::Unit)
    problem.help = help;
  return problem;
}

Parsed parseNumber(const FieldSpec &field, std::string_view text) {
  const auto number = realNumber(text);
  if (!number) {
    ValueProblem problem{.message = "is no number: " + quoted(text),
                         .label = "expected a number such as 3.0e-4"};
    if (text.starts_with('.') && realNumber('0' + std::string(text)))
      problem.help = fmt::format("write `0{}`", text);
    else if (text.ends_with('.') && realNumber(std::string(text) + '0'))
      problem.help = fmt::format("write `{}0`", text);
    else if (const auto meant = meantWhole(text))
      problem.help = fmt::format("write `{}`", *meant);
    return problem;
  }
  if (auto problem = outOfRange(field, *number, text))
    return *problem;
  return Value(*number == 0 ? 0.0 : *number); // no negative zero
}

Parsed parseBytes(const FieldSpec &field, std::string_view text) {
  const auto [digits, name] = splitUnit(text);
  if (digits.empty())
    return ValueProblem{.message = "is no size: " + quoted(text),
                        .label = "expected a size such as 80GiB"};
  const Unit *unit = findUnit(byteUnits(), name);
  if (!unit) {
    ValueProblem problem = badUnit(text, name, namesOf(byteUnits()), "80GiB");
    if (std::string help = meantSize(digits, name); !help.empty())
      problem.help = std::move(help);
    return problem;
  }
  const auto number = wholeNumber(digits);
  if (!number) {
    ValueProblem problem = badWhole(digits);
    if (const auto real = realNumber(digits);
        real && *real > 0 && *real < 1e6 && unit->times > 1 && problem.help.empty())
      problem.help = fmt::format("use a smaller unit: `{}{}`",
                                 static_cast<std::uint64_t>(*real * 1024), std::prev(unit)->name);
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
    return ValueProblem{.message = "is no duration: " + quoted(text),
                        .label = "expected a duration such as 600s"};
  const Unit *unit = findUnit(timeUnits(), name);
  if (!unit)
    return badUnit(text, name, namesOf(timeUnits()), "600s");
  const double seconds = *number * unit->times / unit->per;
  if (auto problem = outOfRange(field, seconds, text))
    return *problem;
  return Value(seconds == 0 ? 0.0 : seconds);
}

Parsed parseRanks(const FieldSpec &field, std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = wholeNumber(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : wholeNumber(text.substr(dash + 1));
  if (!first || !last)
    return ValueProblem{.message = "is no range of ranks: " + quoted(text),
                        .label = "expected first and last rank, as in 0-3"};
  if (*last < *first)
    return ValueProblem{JobCode::Range, "is an empty range: " + quoted(text),
                        "the last rank is before the first",
                        fmt::format("write `{}-{}`", *last, *first)};
  if (auto problem = outOfRange(field, static_cast<double>(*last), std::to_string(*last)))
    return *problem;
  return Value(RankRange{static_cast<std::uint32_t>(*first),
                         static_cast<std::uint32_t>(*last - *first + 1)});
}

namespace {

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

} // namespace

Parsed parsePair(const FieldSpec &field, std::string_view text) {
  if (field.oneForBoth && !text.starts_with('[')) {
    const Parsed parsed = parseNumber(field, text);
    if (const auto *problem = std::get_if<ValueProblem>(&parsed))
      return *problem;
    const double number = std::get<double>(std::get<Value>(parsed));
    return Value(NumberPair{number, number});
  }
  const std::size_t comma = text.find(',');
  const bool bracketed =
      text.starts_with('[') && text.ends_with(']') && comma != std::string_view::npos;
  if (!bracketed || text.find(',', comma + 1) != std::string_view::npos)
    return ValueProblem{.message = "is no pair: " + quoted(text),
                        .label = "expected two numbers, as in " + std::string(field.fallback)};
  NumberPair pair;
  for (const auto &[part, number] :
       {std::pair(text.substr(1, comma - 1), &pair.first),
        std::pair(text.substr(comma + 1, text.size() - comma - 2), &pair.second)}) {
    const Parsed parsed = parseNumber(field, trimmed(part));
    if (const auto *problem = std::get_if<ValueProblem>(&parsed))
      return *problem;
    *number = std::get<double>(std::get<Value>(parsed));
  }
  return Value(pair);
}

Parsed parseCounts(const FieldSpec &field, std::string_view text) {
  const auto noList = [&] {
    return ValueProblem{.message = "is no list of whole numbers: " + quoted(text),
                        .label = "expected a list such as [3, 2, 2, 1]"};
  };
  if (field.layoutText && isLayoutText(text)) {
    auto layers = readLayoutText(text);
    if (auto *problem = std::get_if<ValueProblem>(&layers))
      return std::move(*problem);
    return Value(std::get<CountList>(std::move(layers)));
  }
  if (!text.starts_with('[') || !text.ends_with(']') || text.size() < 3)
    return noList();
  CountList counts;
  text = text.substr(1, text.size() - 2);
  for (std::size_t begin = 0;;) {
    const std::size_t comma = text.find(',', begin);
    const std::string_view item = trimmed(text.substr(begin, comma - begin));
    const auto number = wholeNumber(item);
    if (!number)
      return badWhole(item);
    if (auto problem = outOfRange(field, static_cast<double>(*number), item))
      return *problem;
    counts.push_back(*number);
    if (comma == std::string_view::npos)
      break;
    begin = comma + 1;
  }
  if (counts.size() < field.leastItems || (field.mostItems > 0 && counts.size() > field.mostItems))
    return ValueProblem{.message = fmt::format("takes {} to {} whole numbers, not {}",
                                               field.leastItems, field.mostItems, counts.size()),
                        .label = "a list of another length"};
  return Value(std::move(counts));
}

Parsed parsePerRank(const FieldSpec &field, std::string_view text) {
  if (text == field.fallback)
    return Value(CountList());
  if (text.starts_with('['))
    return parseCounts(field, text);
  const auto number = wholeNumber(text);
  if (!number)
    return ValueProblem{.message = "is no number of anything: " + quoted(text),
                        .label = "expected `" + std::string(field.fallback) +
                                 "`, a whole number, or a list with one for each rank"};
  if (auto problem = outOfRange(field, static_cast<double>(*number), text))
    return *problem;
  return Value(CountList{*number});
}

} // namespace vime
