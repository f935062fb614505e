#include "tests/Oracle/RunValues.h"

#include <cmath>

#include "kernels/SumType.h"
#include "tests/model/Values.h"

namespace vime {
namespace {

/// Numbers of size 1 without a pattern that a matrix would notice.
Values randomValues(std::size_t count, std::size_t seed) {
  Values values(count);
  for (std::size_t index = 0; index < count; ++index)
    values[index] =
        std::sin(double((index + seed) * (index + seed) % 10007)) + std::cos(double(index) * 0.37);
  return values;
}

} // namespace

NamedTensors named(const ModelRun &run, const ModelRun::Tensors &tensors, DataType type) {
  NamedTensors result;
  for (const ModelRun::Part &part : run.parts)
    for (const TensorSpec &tensor : part.spec.tensors)
      for (const SourceTensor &source : tensor.sources) {
        std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.end());
        shape.front() = std::int64_t(source.rows);
        const std::vector<std::byte> &bytes = tensors.at(source.name);
        result[source.name] = {shape, doubles(bytes.data(), bytes.size() / sizeOf(type), type)};
      }
  return result;
}

double distance(const Values &found, const Values &expected) {
  if (found.size() != expected.size())
    return INFINITY;
  double difference = 0, size = 0;
  for (std::size_t index = 0; index < found.size(); ++index) {
    difference += (found[index] - expected[index]) * (found[index] - expected[index]);
    size += expected[index] * expected[index];
  }
  return std::sqrt(difference / size);
}

void enlargeWeights(ModelRun &run, DataType type, std::size_t seed) {
  for (ModelRun::Part &part : run.parts)
    for (const TensorSpec &tensor : part.spec.tensors) {
      const bool norm = tensor.shape.size() == 1;
      Values values = randomValues(tensor.elements(), seed);
      for (double &value : values)
        value = norm ? 1 + 0.3 * value : value / std::sqrt(double(tensor.shape.back()));
      store(values, type, elementAt(part.weights.data(), tensor.offset, type));
    }
}

Values tiedGradients(const ModelRun &run, DataType type, Values others) {
  const Values head =
      doubles(run.parts.back().tiedGradients.data(), others.size(), sumTypeOf(type));
  for (std::size_t index = 0; index < others.size(); ++index)
    others[index] += head[index];
  return others;
}

} // namespace vime
