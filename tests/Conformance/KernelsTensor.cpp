// Memory for kernel tests that shows misuse.
#include "tests/Conformance/KernelsTensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "kernels/BFloat16.h"

namespace vime {
namespace {

constexpr std::byte kGap{0x5a};     // a harmless number in every type
constexpr std::byte kPoison{0xff};  // NaN in every type
constexpr std::size_t kGuard = 256; // bytes

} // namespace

Tensor::Tensor(DataType type, std::int64_t rows, std::int64_t columns, std::int64_t gap,
               std::int64_t misalignment)
    : type(type), rows(rows), columns(columns), stride(columns + gap), start(misalignment),
      storage(std::size_t(misalignment + rows * stride + 1) * sizeOf(type), kGap) {}

void *Tensor::data() { return storage.data() + start * std::int64_t(sizeOf(type)); }

void *Tensor::at(std::int64_t row, std::int64_t column) {
  return elementAt(data(), row * stride + column, type);
}

double Tensor::get(std::int64_t row, std::int64_t column) const {
  const void *place = const_cast<Tensor *>(this)->at(row, column);
  return type == DataType::Float64   ? *static_cast<const double *>(place)
         : type == DataType::Float32 ? double(*static_cast<const float *>(place))
                                     : double(*static_cast<const BFloat16 *>(place));
}

void Tensor::set(std::int64_t row, std::int64_t column, double value) {
  if (type == DataType::Float64)
    *static_cast<double *>(at(row, column)) = value;
  else if (type == DataType::Float32)
    *static_cast<float *>(at(row, column)) = float(value);
  else
    *static_cast<BFloat16 *>(at(row, column)) = BFloat16(value);
}

Tensor &Tensor::fill(const std::function<double(std::int64_t, std::int64_t)> &value) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      set(row, column, value(row, column));
  return *this;
}

Tensor &Tensor::randomize(std::uint64_t seed, double scale) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  return fill([&](std::int64_t, std::int64_t) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double(state >> 11) * 0x1p-52 - 1) * scale;
  });
}

std::vector<std::byte> Tensor::bytes(std::int64_t first, std::int64_t count) const {
  std::vector<std::byte> all;
  for (std::int64_t row = first; row < first + count; ++row) {
    const auto *from = static_cast<const std::byte *>(const_cast<Tensor *>(this)->at(row, 0));
    all.insert(all.end(), from, from + columns * std::int64_t(sizeOf(type)));
  }
  return all;
}

bool Tensor::gapsIntact() const {
  const auto element = [&](std::int64_t index) {
    const std::byte *from = storage.data() + std::size_t(index) * sizeOf(type);
    return std::all_of(from, from + sizeOf(type), [](std::byte b) { return b == kGap; });
  };
  for (std::int64_t index = 0; index < std::int64_t(storage.size() / sizeOf(type)); ++index) {
    const std::int64_t place = index - start;
    const bool inside = place >= 0 && place < rows * stride && place % stride < columns;
    if (!inside && !element(index))
      return false;
  }
  return true;
}

double distance(const Tensor &actual, const Tensor &expected) {
  double largest = 0, difference = 0;
  for (std::int64_t row = 0; row < expected.rows; ++row)
    for (std::int64_t column = 0; column < expected.columns; ++column) {
      const double e = expected.get(row, column), d = std::abs(actual.get(row, column) - e);
      if (std::isnan(d))
        return d;
      largest = std::max(largest, std::abs(e));
      difference = std::max(difference, d);
    }
  return largest > 0 ? difference / largest : difference;
}

Workspace::Workspace(std::size_t size, std::size_t misalignment)
    : size(size), start(misalignment), storage(misalignment + size + kGuard, kGap) {}

Workspace::~Workspace() {
  EXPECT_TRUE(
      std::all_of(storage.end() - kGuard, storage.end(), [](std::byte b) { return b == kGap; }))
      << "a kernel wrote behind its workspace of " << size << " bytes";
}

void *Workspace::poisoned() {
  std::memset(storage.data() + start, int(kPoison), size);
  return storage.data() + start;
}

} // namespace vime
