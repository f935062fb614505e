// Whole vectors, and the optimizer.
#include <cmath>

#include <ATen/ops/sqrt.h>

#include "kernels/LibTorch/Call.h"
#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Views.h"
#include "kernels/Reference/ReferenceKernels.h"

namespace vime {

void LibTorchKernels::fill(std::int64_t count, double value, void *x) const {
  inCall([&] { view(elementType, count, x).fill_(value); });
}

void LibTorchKernels::add(std::int64_t count, const void *y, void *x) const {
  inCall([&] { view(elementType, count, x).add_(view(elementType, count, y)); });
}

void LibTorchKernels::scale(std::int64_t count, double factor, void *x) const {
  inCall([&] { view(elementType, count, x).mul_(factor); });
}

void LibTorchKernels::adamw(const AdamW &adamw, std::int64_t count, const void *gradients,
                            void *parameters, void *moments1, void *moments2, void *rounded) const {
  const double scale = adamw.gradientScale, root2 = std::sqrt(adamw.biasCorrection2);
  forColumns(count, sizeOf(elementType), [&](std::int64_t first, std::int64_t part) {
    inCall([&] {
      const auto of = [&](const void *vector) {
        return view(elementType, part, elementAt(vector, first, elementType));
      };
      const at::Tensor g = of(gradients);
      at::Tensor p = of(parameters), m = of(moments1), v = of(moments2);
      m.mul_(adamw.beta1).add_(g, scale * (1 - adamw.beta1));
      v.mul_(adamw.beta2).addcmul_(g, g, scale * scale * (1 - adamw.beta2));
      at::Tensor divisor = v.sqrt();
      divisor.div_(root2).add_(adamw.epsilon);
      p.mul_(1 - adamw.learningRate * adamw.weightDecay);
      p.addcdiv_(m, divisor, -adamw.learningRate / adamw.biasCorrection1);
      if (rounded)
        of(rounded).copy_(p);
    });
  });
}

/// Between vectors of one type: there are no bfloat16 kernels.
void LibTorchKernels::round(std::int64_t count, const void *x, void *rounded) const {
  inCall([&] { view(elementType, count, rounded).copy_(view(elementType, count, x)); });
}

/// The numbers that all implementations begin with: ATen has no generator of ours.
void LibTorchKernels::initialize(const Initializer &initializer, std::int64_t first,
                                 std::int64_t count, void *values) const {
  referenceKernels(elementType)->initialize(initializer, first, count, values);
}

} // namespace vime
