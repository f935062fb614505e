#include "runtime/Model/Update.h"

#include <cstring>

#include "kernels/SquareSum.h"
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
  roundParameters(kernels, spec, static_cast<const std::byte *>(moments) + mastersOffset(spec),
                  weights);
}

void roundParameters(const Kernels &kernels, const StageSpec &spec, const void *masters,
                     void *weights) {
  for (const TensorSpec &tensor : spec.tensors)
    kernels.round(tensor.elements(), elementAt(masters, tensor.offset, kernels.sumType()),
                  elementAt(weights, tensor.offset, kernels.type()));
}

void keepShare(const Kernels &kernels, const StageSpec &spec, const StageShare &share,
               const void *parameters, void *weights, void *moments) {
  const std::uint64_t sums = share.count * sizeOf(kernels.sumType());
  const std::uint64_t kept = spec.momentBytes / spec.gradientBytes;
  std::memset(weights, 0, share.count * sizeOf(kernels.type()));
  std::memset(moments, 0, kept * sums);
  forEachPiece(spec, share, [&](const TensorPiece &piece) {
    const void *from = elementAt(parameters, piece.inStage, kernels.sumType());
    if (!hasMasters(spec)) {
      std::memcpy(elementAt(weights, piece.inShare, kernels.type()), from,
                  piece.count * sizeOf(kernels.type()));
      return;
    }
    void *const masters = static_cast<std::byte *>(moments) + 2 * sums;
    std::memcpy(elementAt(masters, piece.inShare, kernels.sumType()), from,
                piece.count * sizeOf(kernels.sumType()));
    kernels.round(piece.count, from, elementAt(weights, piece.inShare, kernels.type()));
  });
}

void initialize(const Kernels &kernels, const StageSpec &spec, std::uint64_t seed, void *weights,
                void *moments) {
  std::memset(weights, 0, spec.weightBytes);
  std::memset(moments, 0, spec.momentBytes);
  initializeParameters(kernels, spec, seed, parametersOf(spec, weights, moments));
  roundMasters(kernels, spec, moments, weights);
}

void initializeParameters(const Kernels &kernels, const StageSpec &spec, std::uint64_t seed,
                          void *parameters) {
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
}

void scaleGradients(const Kernels &kernels, const StageSpec &spec, const StageShare &share,
                    double denominator, void *gradients) {
  if (!(denominator > 0))
    return;
  forEachPiece(spec, share, [&](const TensorPiece &piece) {
    kernels.scale(piece.count, 1 / denominator,
                  elementAt(gradients, piece.inStage, kernels.sumType()));
  });
}

void addTied(const Kernels &kernels, const StageSpec &spec, const void *tiedGradients,
             void *gradients) {
  const TensorSpec &embedding = spec.tensors.front();
  kernels.add(embedding.elements(), tiedGradients,
              elementAt(gradients, embedding.offset, kernels.sumType()));
}

void squareNorm(const Kernels &kernels, const StageSpec &spec, const StageShare &share,
                const void *gradients, double *squares) {
  SquareSum sum;
  forEachPiece(spec, share, [&](const TensorPiece &piece) {
    sum.add(kernels.sumType(), piece.count, elementAt(gradients, piece.inStage, kernels.sumType()));
  });
  sum.store(squares);
}

void optimize(const Kernels &kernels, const StageSpec &spec, const StageShare &share,
              const OptimizerStep &step, const void *gradients, void *weights, void *moments) {
  const AdamW adamw{.learningRate = step.learningRate,
                    .weightDecay = step.weightDecay,
                    .beta1 = step.beta1,
                    .beta2 = step.beta2,
                    .epsilon = step.epsilon,
                    .biasCorrection1 = 1 - power(step.beta1, step.step + 1),
                    .biasCorrection2 = 1 - power(step.beta2, step.step + 1),
                    .gradientScale = step.gradientScale};
  const std::uint64_t sums = share.count * sizeOf(kernels.sumType());
  void *const second = static_cast<std::byte *>(moments) + sums;
  void *const parameters =
      hasMasters(spec) ? static_cast<std::byte *>(moments) + 2 * sums : weights;
  forEachPiece(spec, share, [&](const TensorPiece &piece) {
    const auto in = [&](auto *base) { return elementAt(base, piece.inShare, kernels.sumType()); };
    kernels.adamw(adamw, piece.count, elementAt(gradients, piece.inStage, kernels.sumType()),
                  in(parameters), in(moments), in(second),
                  hasMasters(spec) ? elementAt(weights, piece.inShare, kernels.type()) : nullptr);
  });
}

} // namespace vime
