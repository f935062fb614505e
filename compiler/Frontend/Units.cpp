// The units, and where a number ends and its unit starts.
#include "compiler/Frontend/Units.h"

#include <algorithm>
#include <array>

#include "compiler/Frontend/Numbers.h"

namespace vime {

namespace {

constexpr std::array kByteUnits = {Unit{"B", 1, 1}, Unit{"KiB", 1024.0, 1},
                                   Unit{"MiB", 1048576.0, 1}, Unit{"GiB", 1073741824.0, 1},
                                   Unit{"TiB", 1099511627776.0, 1}};
// Dividing by 1000 rounds once; multiplying by 0.001 would round twice.
constexpr std::array kTimeUnits = {Unit{"ns", 1, 1e9}, Unit{"us", 1, 1e6}, Unit{"ms", 1, 1e3},
                                   Unit{"s", 1, 1},    Unit{"min", 60, 1}, Unit{"h", 3600, 1}};

} // namespace

std::span<const Unit> byteUnits() { return kByteUnits; }

std::span<const Unit> timeUnits() { return kTimeUnits; }

const Unit *findUnit(std::span<const Unit> units, std::string_view name) {
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const Unit &unit) { return unit.name == name; });
  return found == units.end() ? nullptr : &*found;
}

std::string namesOf(std::span<const Unit> units) {
  std::string names;
  for (const Unit &unit : units)
    names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

// `e` belongs to the number only before a digit or a sign.
static bool isExponent(std::string_view text) {
  return text.size() > 1 && text[0] == 'e' &&
         (isDigit(text[1]) || text[1] == '-' || text[1] == '+');
}

std::pair<std::string_view, std::string_view> splitUnit(std::string_view text) {
  constexpr std::string_view kInNumbers = ".-+_";
  std::size_t end = 0;
  while (end < text.size() &&
         (isDigit(text[end]) || kInNumbers.find(text[end]) != std::string_view::npos ||
          isExponent(text.substr(end))))
    ++end;
  std::string_view unit = text.substr(end);
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  return {text.substr(0, end), unit};
}

} // namespace vime
