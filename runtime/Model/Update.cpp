#include "runtime/Model/Update.h"

#include <cstring>

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

void initialize(const Kernels &kernels, const StageSpec &spec, std::uint64_t seed, void *weights,
                void *moments) {
  std::memset(weights, 0, spec.weightBytes);
  std::memset(moments, 0, spec.momentBytes);
  for (const TensorSpec &tensor : spec.tensors) {
    if (tensor.start != Start::Normal) {
      kernels.fill(tensor.elements(), tensor.start == Start::Ones ? 1 : 0,
                   elementAt(weights, tensor.offset, kernels.type()));
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
                         elementAt(weights, tensor.offset + source.row * columns, kernels.type()));
  }
}

void scaleGradients(const Kernels &kernels, const StageSpec &spec, double denominator,
                    void *gradients) {
  if (!(denominator > 0))
    return;
  for (const TensorSpec &tensor : spec.tensors)
    kernels.scale(tensor.elements(), 1 / denominator,
                  elementAt(gradients, tensor.offset, kernels.type()));
}

void addTied(const Kernels &kernels, const StageSpec &spec, const void *tiedGradients,
             void *gradients) {
  const TensorSpec &embedding = spec.tensors.front();
  kernels.add(embedding.elements(), tiedGradients,
              elementAt(gradients, embedding.offset, kernels.type()));
}

void squareNorms(const Kernels &kernels, const StageSpec &spec, const void *gradients,
                 double *squares) {
  for (const TensorSpec &tensor : spec.tensors)
    *squares++ = kernels.sumOfSquares(tensor.elements(),
                                      elementAt(gradients, tensor.offset, kernels.type()));
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
  void *second = static_cast<std::byte *>(moments) + spec.momentBytes / 2;
  for (const TensorSpec &tensor : spec.tensors) {
    const auto in = [&](void *base) { return elementAt(base, tensor.offset, kernels.type()); };
    kernels.adamw(adamw, tensor.elements(), elementAt(gradients, tensor.offset, kernels.type()),
                  in(weights), in(moments), in(second));
  }
}

} // namespace vime
