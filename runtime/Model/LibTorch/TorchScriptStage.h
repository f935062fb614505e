// TorchScriptStage: a user's module as a stage, differentiated by LibTorch.
//
// A task keeps nothing but what the plan has room for: the forward leaves its output (of the last
// stage the logits), and a backward runs the forward once more, with autograd, and takes the
// gradients from there. All that LibTorch allocates meanwhile comes from the task's workspace; a
// task that asks for more than the job declared, or leaves something behind, fails.
#pragma once

#include <memory>

#include "runtime/Model/LibTorch/UserModule.h"
#include "runtime/Model/Stage.h"

namespace vime {

class TorchScriptStage final : public Stage {
public:
  static StatusOr<std::unique_ptr<TorchScriptStage>>
  load(const ModelConfig &config, const ModuleStage &stage, const Kernels &kernels);

  void bringWeights(void *weights) const override { module.copyParametersTo(weights); }
  void forward(const Segments &segments, const ForwardOperands &at) const override;
  void loss(const Segments &segments, const LossOperands &at) const override;
  void policyLoss(const Segments &segments, const PolicyLossOperands &at,
                  const PolicyLossSettings &settings) const override;
  void logProbabilities(const Segments &segments, const LogProbabilityOperands &at) const override;
  void backward(const Segments &segments, bool overwrite,
                const BackwardOperands &at) const override;
  void backwardInput(const Segments &segments, const BackwardInputOperands &at) const override;
  void backwardWeight(const Segments &segments, bool overwrite,
                      const BackwardWeightOperands &at) const override;

private:
  TorchScriptStage(const ModelConfig &config, const ModuleStage &stage, const Kernels &kernels,
                   UserModule module)
      : config(config), range(stage.range), caps(stage.caps), kernels(kernels),
        module(std::move(module)) {}

  /// Consecutive samples of one length.
  struct Run {
    std::int64_t samples, length, token; // the first of its tokens
  };
  /// What a backward reads and what it makes; null for what it does not.
  struct Gradients {
    const void *outputGradient, *input, *weights, *stash;
    void *inputGradient, *gradients;
    bool overwrite;
  };

  at::Tensor inputOf(const Run &run, const void *input) const;
  at::Tensor outputOf(const Run &run, const void *output) const;
  void differentiate(const Segments &segments, const Gradients &at, void *workspace) const;
  void differentiate(const Run &run, const Gradients &at, bool overwrite) const;
  template <typename Body>
  void inTask(const Segments &segments, const void *weights, void *workspace,
              const Body &body) const;

  const ModelConfig config;
  const StageRange range;
  const MicrobatchCaps caps;
  const Kernels &kernels;
  mutable UserModule module; // which memory it computes with; one thread
};

} // namespace vime
