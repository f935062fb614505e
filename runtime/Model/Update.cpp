#include "runtime/Model/Update.h"

#include <cstring>

#include "runtime/ModelSpec/Masters.h"

namespace vime {
namespace {

/// base^exponent by squaring: only multiplications, so that every machine has the same bits.
double power(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

} // namespace

void *parametersOf(const StageSpec &spec, void *weights, void *moments) {
  return hasMasters(spec) ? static_cast<std::byte *>(moments) + mastersOffset(spec) : weights;
}

void roundMasters(const Kernels &kernels, const StageSpec &spec, const void *moments,
                  void *weights) {
  if (!hasMasters(spec))
    return;
  const void *masters = static_cast<const std::byte *>(moments) + mastersOffset(spec);
  for (const TensorSpec &tensor : spec.tensors)
    kernels.round(tensor.elements(), elementAt(masters, tensor.offset, kernels.sumType()),
                  elementAt(weights, tensor.offset, kernels.type()));
}

void initialize(const Kernels &kernels, const StageSpec &spec, std::uint64_t seed, void *weights,
                void *moments) {
  std::memset(weights, 0, spec.weightBytes);
  std::memset(moments, 0, spec.momentBytes);
  void *const parameters = parametersOf(spec, weights, moments);
  for (const TensorSpec &tensor : spec.tensors) {
    void *const values = elementAt(parameters, tensor.offset, kernels.sumType());
    if (tensor.start != Start::Normal) {
      kernels.fill(tensor.elements(), tensor.start == Start::Ones ? 1 : 0, values);
      continue;
    }
    const std::uint64_t columns = tensor.elements() / tensor.shape.front();
    for (const SourceTensor &source : tensor.sources)
      kernels.initialize({.kind = Initializer::Kind::Normal,
                          .center = 0,
                          .spread = 0.02,
                          .seed = seed,
                          .tensor = tensorKey(source.name.data(), source.name.size())},
                         0, source.rows * columns,
                         elementAt(values, source.row * columns, kernels.sumType()));
  }
  roundMasters(kernels, spec, moments, weights);
}

void scaleGradients(const Kernels &kernels, const StageSpec &spec, double denominator,
                    void *gradients) {
  if (!(denominator > 0))
    return;
  for (const TensorSpec &tensor : spec.tensors)
    kernels.scale(tensor.elements(), 1 / denominator,
                  elementAt(gradients, tensor.offset, kernels.sumType()));
}

void addTied(const Kernels &kernels, const StageSpec &spec, const void *tiedGradients,
             void *gradients) {
  const TensorSpec &embedding = spec.tensors.front();
  kernels.add(embedding.elements(), tiedGradients,
              elementAt(gradients, embedding.offset, kernels.sumType()));
}

void squareNorms(const Kernels &kernels, const StageSpec &spec, const void *gradients,
                 double *squares) {
  for (const TensorSpec &tensor : spec.tensors)
    *squares++ = kernels.sumOfSquares(tensor.elements(),
                                      elementAt(gradients, tensor.offset, kernels.sumType()));
}

void optimize(const Kernels &kernels, const StageSpec &spec, const OptimizerStep &step,
              const void *gradients, void *weights, void *moments) {
  const AdamW adamw{.learningRate = step.learningRate,
                    .weightDecay = step.weightDecay,
                    .beta1 = step.beta1,
                    .beta2 = step.beta2,
                    .epsilon = step.epsilon,
                    .biasCorrection1 = 1 - power(step.beta1, step.step + 1),
                    .biasCorrection2 = 1 - power(step.beta2, step.step + 1),
                    .gradientScale = step.gradientScale};
  void *const parameters = parametersOf(spec, weights, moments);
  void *const second = static_cast<std::byte *>(moments) + spec.gradientBytes;
  for (const TensorSpec &tensor : spec.tensors) {
    const auto in = [&](auto *base) { return elementAt(base, tensor.offset, kernels.sumType()); };
    kernels.adamw(adamw, tensor.elements(), in(gradients), in(parameters), in(moments), in(second),
                  hasMasters(spec) ? elementAt(weights, tensor.offset, kernels.type()) : nullptr);
  }
}

} // namespace vime
