#include "runtime/Policy/Whitening.h"

#include <cmath>

namespace vime {
namespace {

constexpr double kVarianceFloor = 1e-8;

} // namespace

void Whitening::addNumbers(std::span<const std::uint8_t> mask, std::span<const double> advantages) {
  for (std::size_t token = 0; token < mask.size(); ++token)
    if (mask[token] != 0) {
      numbers.add(advantages[token]);
      ++tokens;
    }
}

void Whitening::takeMean() {
  mean = tokens == 0 ? 0 : numbers.value() / static_cast<double>(tokens);
}

void Whitening::addSquares(std::span<const std::uint8_t> mask, std::span<const double> advantages) {
  for (std::size_t token = 0; token < mask.size(); ++token)
    if (mask[token] != 0)
      squares.add((advantages[token] - mean) * (advantages[token] - mean));
}

void Whitening::apply(std::span<const std::uint8_t> mask, std::span<double> advantages) const {
  const double variance = tokens < 2 ? 0 : squares.value() / static_cast<double>(tokens - 1);
  const double scale = std::sqrt(variance + kVarianceFloor);
  for (std::size_t token = 0; token < mask.size(); ++token)
    if (mask[token] != 0)
      advantages[token] = (advantages[token] - mean) / scale;
}

} // namespace vime
