#include "compiler/Machine/FitParts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace vime {

namespace {

constexpr std::size_t kParts = 3; // layer, embedding, head
using Row = std::array<double, kParts>;

/// An equation, row · parts = value, divided by how far off it may be.
struct Equations {
  std::array<Row, kParts> normal{};
  Row right{};

  void add(const Row &row, double value, double tolerance) {
    for (std::size_t one = 0; one < kParts; ++one) {
      for (std::size_t other = 0; other < kParts; ++other)
        normal[one][other] += row[one] * row[other] / (tolerance * tolerance);
      right[one] += row[one] * value / (tolerance * tolerance);
    }
  }

  /// Of the parts that are asked for; the others are 0. By elimination, the matrix being positive.
  Row solve(const std::array<bool, kParts> &asked) const {
    std::array<Row, kParts> matrix = normal;
    Row value = right;
    for (std::size_t part = 0; part < kParts; ++part)
      if (!asked[part]) {
        matrix[part] = {};
        for (Row &row : matrix)
          row[part] = 0;
        matrix[part][part] = 1;
        value[part] = 0;
      }
    for (std::size_t pivot = 0; pivot < kParts; ++pivot)
      for (std::size_t row = 0; row < kParts; ++row) {
        if (row == pivot || matrix[pivot][pivot] == 0)
          continue;
        const double factor = matrix[row][pivot] / matrix[pivot][pivot];
        for (std::size_t column = 0; column < kParts; ++column)
          matrix[row][column] -= factor * matrix[pivot][column];
        value[row] -= factor * value[pivot];
      }
    for (std::size_t part = 0; part < kParts; ++part)
      value[part] = matrix[part][part] == 0 ? 0 : value[part] / matrix[part][part];
    return value;
  }
};

// How far measured stages may be off at least, relative to themselves, and ends, relative to what
// their work lets expect and to a layer.
constexpr double kStageTolerance = 0.01, kEndTolerance = 0.5, kLayerShare = 0.02;

} // namespace

FittedParts fitParts(std::span<const StageTime> stages, const PartWork &work) {
  const PartWeights of = weightsOf(work);
  const Row weights = {of.layer, of.embedding, of.head};
  std::array<bool, kParts> seen{}, asked{};
  double most = 0;
  for (const StageTime &stage : stages)
    most = std::max(most, stage.seconds);
  if (most == 0)
    return {};
  Equations equations;
  double expected = 0; // of a unit of weight
  for (const StageTime &stage : stages) {
    const Row row = {static_cast<double>(stage.range.end - stage.range.first),
                     stage.range.embedding ? 1.0 : 0.0, stage.range.head ? 1.0 : 0.0};
    double weight = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
      seen[part] = seen[part] || row[part] != 0;
      asked[part] = weights[part] != 0;
      weight += row[part] * weights[part];
    }
    equations.add(row, stage.seconds,
                  std::max(kStageTolerance, stage.spread) * std::max(stage.seconds, 0.01 * most));
    if (weight > 0)
      expected = std::max(expected, stage.seconds / weight);
  }
  for (std::size_t part = 0; part < kParts; ++part) {
    if (part == 0 && seen[part])
      continue;
    Row row{};
    row[part] = 1;
    const double end = expected * weights[part];
    equations.add(row, end,
                  kEndTolerance * end + kLayerShare * expected * weights[0] + 1e-6 * most);
  }
  Row parts = equations.solve(asked);
  for (auto least = std::min_element(parts.begin(), parts.end()); *least < 0;
       least = std::min_element(parts.begin(), parts.end())) {
    asked[static_cast<std::size_t>(least - parts.begin())] = false; // it takes nothing then
    parts = equations.solve(asked);
  }
  return {parts[0], parts[1], parts[2]};
}

} // namespace vime
