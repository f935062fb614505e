// Update: what happens to a whole stage's parameters once per step, tensor by tensor in StageSpec
// order.
//
//   squareNorms(kernels, spec, gradients, squares);   // one float64 per tensor
//   optimize(kernels, spec, update, gradients, weights, moments);
//
// Works for every family: a stage is its tensor table here. Nothing allocates. Elements between
// tensors (alignment) are left alone, except that `initialize` zeroes them.
#pragma once

#include <cstdint>

#include "kernels/Kernels.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

/// What the optimizer changes: the masters among the moments, or else the weights themselves. Of
/// the kernels' sumType().
void *parametersOf(const StageSpec &spec, void *weights, void *moments);

/// weights = masters, rounded; nothing where there are none.
void roundMasters(const Kernels &kernels, const StageSpec &spec, const void *moments,
                  void *weights);

/// Normal(0, 0.02) for matrices, ones for norms, zero moments. A value depends on (seed, Hugging
/// Face tensor name, index) only, whatever is fused and wherever the stage boundaries are.
void initialize(const Kernels &kernels, const StageSpec &spec, std::uint64_t seed, void *weights,
                void *moments);

/// gradients *= 1 / denominator; a step without labels (denominator 0) leaves them.
void scaleGradients(const Kernels &kernels, const StageSpec &spec, double denominator,
                    void *gradients);

/// gradients of the embedding += those of the head that is tied to it, [vocab, hidden].
void addTied(const Kernels &kernels, const StageSpec &spec, const void *tiedGradients,
             void *gradients);

/// squares[tensor] = sum of squares in float64, `spec.tensors.size()` of them.
void squareNorms(const Kernels &kernels, const StageSpec &spec, const void *gradients,
                 double *squares);

/// One AdamW step as `torch.optim.AdamW` does it with all parameters in one group.
struct OptimizerStep {
  std::uint64_t step; // 0-based, of the step header
  double learningRate;
  double beta1, beta2, epsilon, weightDecay;
  double gradientScale; // the clip factor
};

/// `moments` holds the first moments, the second and the masters, each laid out as the gradients
/// are. Where there are masters, weights become a rounded copy of them.
void optimize(const Kernels &kernels, const StageSpec &spec, const OptimizerStep &step,
              const void *gradients, void *weights, void *moments);

} // namespace vime
