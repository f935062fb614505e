#include "compiler/Diagnostics/Amounts.h"

#include <cmath>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

namespace vime {

namespace {

std::uint64_t largestDigits(double value) { return value < 10 ? 2 : value < 100 ? 1 : 0; }

} // namespace

std::string bytesInWords(std::uint64_t bytes) {
  constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1024;
  if (unit == 0)
    return fmt::format("{} B", bytes);
  const double scale = std::pow(10, static_cast<double>(largestDigits(value)));
  return fmt::format("{} {}", std::ceil(value * scale) / scale, kUnits[unit]);
}

} // namespace vime
