// Stage: forward and backward of a run of consecutive layers, as plain functions over the plan's
// memory.
//
//   auto stage = makeStage(config, stages[1], caps, *nativeKernels(config.type));
//   (*stage)->forward(segments, {.input = x, .weights = w, .stash = s, .output = y, ...});
//   (*stage)->backward(segments, /*overwrite=*/true, {.outputGradient = dy, ...});
//
// A stage owns no state that changes: weights, gradients, activations and stashes are the caller's,
// laid out by `stageSpec`. Operands stand in the order of runtime/Plan/Opcode.cpp and are null
// where a stage has none. Tasks allocate nothing, throw nothing (those on LibTorch, when a
// workspace was too small: KernelError), and may run on any thread as long as they share no
// writable operand. The number of tokens comes with the segments of each call and may be anything
// up to the caps, 0 included.
//
// Of samples in slices (MicrobatchCaps) a call takes one slice: forwards go from the first to the
// last, backwards from the last to the first, and all are given the same `context`, which each
// forward extends, and `contextGradients`, to which each backward adds.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/Kernels.h"
#include "runtime/Base/Status.h"
#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Policy/PolicyLoss.h"

namespace vime {

struct ForwardOperands {
  const void *input; // tokens (int32) on the first stage, else the activation [tokens, hidden]
  const void *weights;
  void *stash;
  void *output; // [tokens, hidden]; null on the last stage: its logits lie in the stash
  void *workspace;
  const void *tiedWeights = nullptr; // [vocab, hidden] of a tied head, on the last stage
  void *context = nullptr;
};

struct LossOperands {
  const std::int32_t *labels; // negative: no label
  void *stash;                // logits become their gradient
  double *loss;               // plain sum of the token losses
};

/// Rows stand where the labels do: of a token that is the next one's.
struct PolicyLossOperands {
  const std::int32_t *labels; // negative: no label
  const double *advantages;   // [tokens]
  const double *old;          // [tokens] log-probabilities before the round's first step
  const double *sampled;      // [tokens] those that the tokens were drawn with
  const double *denominators; // [segments]
  const double *reference;    // [tokens] of the reference model; null without a KL term
  void *stash;                // logits become their gradient
  plan::PolicyNumbers *numbers;
  void *workspace; // policyWorkspace (runtime/ModelSpec/PolicyWorkspace.h)
};

struct LogProbabilityOperands {
  const std::int32_t *labels;
  const void *stash;        // logits, which stay
  double *logProbabilities; // [tokens]; 0 where there is no label
};

struct BackwardOperands {
  const void *outputGradient; // null on the last stage
  const void *input;
  const void *weights;
  void *stash;
  void *gradients;
  void *inputGradient; // null on the first stage
  void *workspace;
  const void *tiedWeights = nullptr;
  void *tiedGradients = nullptr; // of a tied head, apart from those of the embedding
  const void *context = nullptr;
  void *contextGradients = nullptr;
};

struct BackwardInputOperands {
  const void *outputGradient;
  const void *input;
  const void *weights;
  void *stash;
  void *weightStash;
  void *inputGradient;
  void *workspace;
  const void *tiedWeights = nullptr;
  const void *context = nullptr;
  void *contextGradients = nullptr;
};

struct BackwardWeightOperands {
  const void *outputGradient;
  const void *input;
  const void *weights;
  const void *stash;
  const void *weightStash;
  void *gradients;
  void *workspace;
  void *tiedGradients = nullptr;
};

class Stage {
public:
  virtual ~Stage() = default;
  /// First values that the stage has itself, over those of `initialize`.
  virtual void bringWeights([[maybe_unused]] void *weights) const {}
  virtual void forward(const Segments &segments, const ForwardOperands &at) const = 0;
  /// Last stage only, between its forward and its backward. Gradients are those of the sum, not of
  /// a mean: the plan scales them once per step.
  virtual void loss(const Segments &segments, const LossOperands &at) const = 0;
  /// The same in a round. Each segment is a sample. A loss that is no number leaves a gradient that
  /// is none, so that the step is skipped.
  virtual void policyLoss(const Segments &segments, const PolicyLossOperands &at,
                          const PolicyLossSettings &settings) const = 0;
  /// Last stage only, behind its forward. `native` kernels: the bits that an engine finds.
  virtual void logProbabilities(const Segments &segments,
                                const LogProbabilityOperands &at) const = 0;
  /// The same bits as backwardInput and then backwardWeight, in less memory. `overwrite`: gradients
  /// are written, else added to.
  virtual void backward(const Segments &segments, bool overwrite,
                        const BackwardOperands &at) const = 0;
  virtual void backwardInput(const Segments &segments, const BackwardInputOperands &at) const = 0;
  virtual void backwardWeight(const Segments &segments, bool overwrite,
                              const BackwardWeightOperands &at) const = 0;
};

/// `kernels` must outlive the stage and have the type of the model. Fails on a config or caps that
/// `check` refuses.
StatusOr<std::unique_ptr<Stage>> makeStage(const ModelConfig &config, StageRange range,
                                           MicrobatchCaps caps, const Kernels &kernels);

/// Whether segments that came from outside fit: offsets ascend from 0 to `tokens`, no segment is
/// longer than the cap.
Status checkSegments(const Segments &segments, std::int64_t tokens, MicrobatchCaps caps);

} // namespace vime
