// Update: what happens to a whole stage's parameters once per step, tensor by tensor in StageSpec
// order.
//
//   squareNorm(kernels, spec, share, gradients, squares);   // kernels/SquareSum.h
//   optimize(kernels, spec, share, update, gradients, weights, moments);
//
// `share`: what this replica keeps of the stage (runtime/ModelSpec/StageShare.h), the whole of it
// where each has all. Gradients are always a whole stage's region, of which only the share counts;
// weights and moments are the share's own.
//
// Works for every family: a stage is its tensor table here. Nothing allocates. Elements between
// tensors (alignment) are left alone, except that `initialize` zeroes them.
#pragma once

#include <cstdint>

#include "kernels/Kernels.h"
#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/ModelSpec/StageShare.h"

namespace vime {

/// What the optimizer changes: the masters among the moments, or else the weights themselves. Of
/// the kernels' sumType().
void *parametersOf(const StageSpec &spec, void *weights, void *moments);

/// weights = masters, rounded; nothing where there are none.
void roundMasters(const Kernels &kernels, const StageSpec &spec, const void *moments,
                  void *weights);

/// The same from masters that lie anywhere.
void roundParameters(const Kernels &kernels, const StageSpec &spec, const void *masters,
                     void *weights);

/// Normal(0, 0.02) for matrices, ones for norms, zero moments. A value depends on (seed, Hugging
/// Face tensor name, index) only, whatever is fused and wherever the stage boundaries are.
void initialize(const Kernels &kernels, const StageSpec &spec, std::uint64_t seed, void *weights,
                void *moments);

/// The parameters alone, of the kernels' sumType().
void initializeParameters(const Kernels &kernels, const StageSpec &spec, std::uint64_t seed,
                          void *parameters);

/// Weights, masters among the moments if there are any, and moments of zero, from the whole stage's
/// parameters.
void keepShare(const Kernels &kernels, const StageSpec &spec, const StageShare &share,
               const void *parameters, void *weights, void *moments);

/// gradients *= 1 / denominator; a step without labels (denominator 0) leaves them.
void scaleGradients(const Kernels &kernels, const StageSpec &spec, const StageShare &share,
                    double denominator, void *gradients);

/// gradients of the embedding += those of the head that is tied to it, [vocab, hidden].
void addTied(const Kernels &kernels, const StageSpec &spec, const void *tiedGradients,
             void *gradients);

/// The sum of squares of the share, as kSquareNumbers of it.
void squareNorm(const Kernels &kernels, const StageSpec &spec, const StageShare &share,
                const void *gradients, double *squares);

/// One AdamW step as `torch.optim.AdamW` does it with all parameters in one group.
struct OptimizerStep {
  std::uint64_t step; // 0-based, of the step header
  double learningRate;
  double beta1, beta2, epsilon, weightDecay;
  double gradientScale; // the clip factor
};

/// `moments` holds the first moments, the second and the masters, each laid out as the gradients
/// are. Where there are masters, weights become a rounded copy of them.
void optimize(const Kernels &kernels, const StageSpec &spec, const StageShare &share,
              const OptimizerStep &step, const void *gradients, void *weights, void *moments);

} // namespace vime
