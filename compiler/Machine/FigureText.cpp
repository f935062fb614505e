#include "compiler/Machine/FigureText.h"

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/FieldTable.h"
#include "compiler/Frontend/Numbers.h"
#include "compiler/Frontend/Units.h"
#include "runtime/Base/Nearest.h"

namespace vime {

namespace {

constexpr std::array kFlopUnits = {Unit{"FLOP/s", 1, 1},     Unit{"kFLOP/s", 1e3, 1},
                                   Unit{"MFLOP/s", 1e6, 1},  Unit{"GFLOP/s", 1e9, 1},
                                   Unit{"TFLOP/s", 1e12, 1}, Unit{"PFLOP/s", 1e15, 1}};
constexpr std::array kBandwidthUnits = {Unit{"B/s", 1, 1}, Unit{"kB/s", 1e3, 1},
                                        Unit{"MB/s", 1e6, 1}, Unit{"GB/s", 1e9, 1},
                                        Unit{"TB/s", 1e12, 1}};
constexpr double kLeast = 1e3, kMost = 1e21; // beyond any machine

std::span<const Unit> unitsOf(FigureKind kind) {
  return kind == FigureKind::Flops ? std::span<const Unit>(kFlopUnits)
                                   : std::span<const Unit>(kBandwidthUnits);
}

/// `Gb/s`, `Gbit/s`: what network cards are sold by.
bool countsBits(std::string_view unit) {
  return unit.ends_with("b/s") || unit.ends_with("bit/s") || unit.ends_with("bps");
}

std::variant<double, ValueProblem> parseRate(FigureKind kind, std::string_view text) {
  const std::span<const Unit> units = unitsOf(kind);
  const char *const example = kind == FigureKind::Flops ? "989 TFLOP/s" : "450 GB/s";
  const auto [digits, name] = splitUnit(text);
  const auto number = realNumber(digits);
  if (!number)
    return ValueProblem{.message = fmt::format("is no rate: `{}`", printable(text)),
                        .label = fmt::format("expected a rate such as {}", example)};
  const Unit *unit = findUnit(units, name);
  if (!unit) {
    ValueProblem problem{JobCode::Unit,
                         name.empty() ? std::string("lacks its unit")
                                      : fmt::format("has an unknown unit: `{}`", printable(name)),
                         name.empty() ? fmt::format("{} of what?", printable(text))
                                      : "no unit of this value",
                         fmt::format("the units are {}, as in `{}`", namesOf(units), example)};
    std::vector<std::string_view> names;
    for (const Unit &known : units)
      names.push_back(known.name);
    if (kind == FigureKind::Bandwidth && countsBits(name))
      problem.help = "a byte has eight bits: write `50 GB/s` for 400 Gbit/s";
    else if (const auto near = nearest(name, names))
      problem.help = fmt::format("did you mean `{}`? {}", *near, problem.help);
    return problem;
  }
  const double rate = *number * unit->times;
  if (rate < kLeast || rate > kMost)
    return ValueProblem{.code = JobCode::Range,
                        .message = fmt::format("is {}, must be at least {} and at most {}",
                                               printable(text), printFigure(kind, kLeast),
                                               printFigure(kind, kMost)),
                        .label = rate > kMost ? "too large" : "too small"};
  return rate;
}

/// What a job writes in the same way.
FieldSpec specOf(FigureKind kind) {
  constexpr double kBytes = 1ull << 60, kSeconds = 1e6, kCount = 1'000'000;
  switch (kind) {
  case FigureKind::Bytes:
    return {.type = FieldType::Bytes, .least = 1, .most = kBytes};
  case FigureKind::Seconds:
    return {.type = FieldType::Seconds, .most = kSeconds};
  case FigureKind::Count:
    return {.type = FieldType::Count, .least = 1, .most = kCount};
  default:
    return {.type = FieldType::Number, .most = 1, .above = true};
  }
}

/// Four digits that matter, no zeros behind them.
std::string shortNumber(double number) {
  const int before = number < 1 ? 1 : 1 + static_cast<int>(std::floor(std::log10(number)));
  std::string text = fmt::format("{:.{}f}", number, std::max(0, 4 - before));
  if (text.find('.') != text.npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.'))
      text.pop_back();
  }
  return text;
}

std::string inUnits(double value, std::span<const Unit> units, std::string_view between) {
  const Unit *best = &units.front();
  for (const Unit &unit : units)
    if (value * unit.per / unit.times >= 1)
      best = &unit;
  return fmt::format("{}{}{}", shortNumber(value * best->per / best->times), between, best->name);
}

} // namespace

std::variant<double, ValueProblem> parseFigure(FigureKind kind, std::string_view text) {
  if (kind == FigureKind::Flops || kind == FigureKind::Bandwidth)
    return parseRate(kind, text);
  const auto parsed = parseValue(specOf(kind), text);
  if (const auto *problem = std::get_if<ValueProblem>(&parsed))
    return *problem;
  const Value &value = std::get<Value>(parsed);
  if (const auto *whole = std::get_if<std::uint64_t>(&value))
    return static_cast<double>(*whole);
  return std::get<double>(value);
}

std::string printFigure(FigureKind kind, double value) {
  switch (kind) {
  case FigureKind::Flops:
  case FigureKind::Bandwidth:
    return inUnits(value, unitsOf(kind), " ");
  case FigureKind::Seconds:
    return inUnits(value, timeUnits().first(4), " ");
  case FigureKind::Bytes:
  case FigureKind::Count:
    return printValue(specOf(kind), static_cast<std::uint64_t>(value));
  case FigureKind::Share:
    break;
  }
  return fmt::format("{:.4g}", value);
}

} // namespace vime
