// Tensor, Workspace: memory for kernel tests that shows misuse.
//
// A Tensor is a matrix at a chosen misalignment and stride whose gaps between rows hold a pattern
// that no kernel may touch; a Workspace is full of NaN before and guarded behind.
#pragma once

#include "kernels/Kernels.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace vime {

class Tensor {
public:
  Tensor(DataType type, std::int64_t rows, std::int64_t columns, std::int64_t gap = 0,
         std::int64_t misalignment = 0);

  double get(std::int64_t row, std::int64_t column) const;
  void set(std::int64_t row, std::int64_t column, double value);
  /// Sets each element to value(row, column).
  Tensor &fill(const std::function<double(std::int64_t, std::int64_t)> &value);
  /// Numbers spread evenly over [-1, 1), the same for a seed whatever the stride.
  Tensor &randomize(std::uint64_t seed, double scale = 1);

  Matrix matrix() { return {data(), stride}; }
  ConstMatrix matrix() const { return {const_cast<Tensor *>(this)->data(), stride}; }
  void *data();
  const void *data() const { return const_cast<Tensor *>(this)->data(); }
  /// Address of an element.
  void *at(std::int64_t row, std::int64_t column);
  /// The elements of rows [first, first + count), without gaps.
  std::vector<std::byte> bytes(std::int64_t first, std::int64_t count) const;
  std::vector<std::byte> bytes() const { return bytes(0, rows); }
  bool gapsIntact() const;

  DataType type;
  std::int64_t rows, columns, stride;

private:
  std::int64_t start; // element of `storage` where row 0 begins
  std::vector<std::byte> storage;
};

/// The largest difference of two tensors, relative to the largest element of `expected`.
double distance(const Tensor &actual, const Tensor &expected);

class Workspace {
public:
  explicit Workspace(std::size_t size, std::size_t misalignment = 0);
  /// Asserts that nothing was written behind the end.
  ~Workspace();
  /// All of it NaN again.
  void *poisoned();

private:
  std::size_t size, start;
  std::vector<std::byte> storage;
};

} // namespace vime
