// Units: of sizes and durations, each in terms of bytes or seconds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace vime {

struct Unit {
  std::string_view name;
  double times; // of the base unit
  double per;   // 1 of the base unit is so many of this
};

std::span<const Unit> byteUnits(); // ascending
std::span<const Unit> timeUnits();

/// Null if there is none of this name.
const Unit *findUnit(std::span<const Unit> units, std::string_view name);

/// `ns, us, ms`
std::string namesOf(std::span<const Unit> units);

/// `80 GiB` → `80` and `GiB`: the number ends where the last digit, or what belongs to a real
/// number, ends.
std::pair<std::string_view, std::string_view> splitUnit(std::string_view text);

} // namespace vime
