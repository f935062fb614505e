// printValue: the canonical text of a value; parseValue reads the same value from it.
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/Frontend/FieldTable.h"
#include "compiler/Frontend/ReadValue.h"
#include "compiler/Frontend/Units.h"

namespace vime {

namespace {

std::string printSeconds(double seconds) {
  const FieldSpec any{.type = FieldType::Seconds, .most = std::numeric_limits<double>::max()};
  for (const std::string_view name : {"s", "ms", "us", "ns"}) {
    const Unit *unit = findUnit(timeUnits(), name);
    const double count = seconds * unit->per;
    if (count < 1 && name != "ns")
      continue;
    const std::string text = fmt::format("{}{}{}", count, name == "s" ? "" : " ", name);
    const Parsed again = parseSeconds(any, text);
    if (const auto *value = std::get_if<Value>(&again);
        value && std::get<double>(*value) == seconds)
      return text;
  }
  return fmt::format("{}s", seconds); // exact, if not pretty
}

std::string printBytes(std::uint64_t bytes) {
  const Unit *best = &byteUnits().front();
  for (const Unit &unit : byteUnits())
    if (bytes > 0 && bytes % static_cast<std::uint64_t>(unit.times) == 0)
      best = &unit;
  return fmt::format("{}{}", bytes / static_cast<std::uint64_t>(best->times), best->name);
}

// Units end in `s`.
std::string printCount(std::uint64_t count, std::string_view unit) {
  return unit.empty()
             ? std::to_string(count)
             : fmt::format("{} {}", count, unit.substr(0, unit.size() - (count == 1 ? 1 : 0)));
}

} // namespace

std::string printValue(const FieldSpec &field, const Value &value) {
  switch (field.type) {
  case FieldType::Count:
    return printCount(std::get<std::uint64_t>(value), field.unit);
  case FieldType::Amount: {
    const auto [count, inOther] = std::get<Quantity>(value);
    return printCount(count, inOther ? field.otherUnit : field.unit);
  }
  case FieldType::Number:
    return fmt::format("{}", std::get<double>(value));
  case FieldType::Bytes:
    return printBytes(std::get<std::uint64_t>(value));
  case FieldType::Seconds:
    return printSeconds(std::get<double>(value));
  case FieldType::Ranks: {
    const RankRange range = std::get<RankRange>(value);
    return range.count == 1 ? std::to_string(range.first)
                            : fmt::format("{}-{}", range.first, range.first + range.count - 1);
  }
  case FieldType::Pair: {
    const auto [first, second] = std::get<NumberPair>(value);
    return fmt::format("[{}, {}]", first, second);
  }
  case FieldType::Counts:
  case FieldType::Tokens:
    return fmt::format("[{}]", fmt::join(std::get<CountList>(value), ", "));
  case FieldType::PerRank: {
    const CountList &counts = std::get<CountList>(value);
    return counts.empty()       ? std::string(field.fallback)
           : counts.size() == 1 ? std::to_string(counts.front())
                                : fmt::format("[{}]", fmt::join(counts, ", "));
  }
  default:
    return std::get<std::string>(value);
  }
}

} // namespace vime
