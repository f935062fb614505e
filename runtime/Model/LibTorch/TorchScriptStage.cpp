#include "runtime/Model/LibTorch/TorchScriptStage.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "kernels/LibTorch/Loan.h"
#include "kernels/LibTorch/Views.h"
#include "runtime/Model/PolicyTasks.h"

namespace vime {

StatusOr<std::unique_ptr<TorchScriptStage>> TorchScriptStage::load(const ModelConfig &config,
                                                                   const ModuleStage &stage,
                                                                   const Kernels &kernels) {
  StatusOr<UserModule> module = UserModule::load(config, stage);
  if (!module.ok())
    return module.status();
  return std::unique_ptr<TorchScriptStage>(
      new TorchScriptStage(config, stage, kernels, std::move(*module)));
}

/// `body(run, isFirst)` for each run of samples of one length, all in one loan of the workspace.
template <typename Body>
void TorchScriptStage::inTask(const Segments &segments, const void *weights, void *workspace,
                              const Body &body) const {
  module.bind(weights);
  Loan loan(workspace, config.taskBytes);
  try {
    for (std::int32_t first = 0, behind = 0; first < segments.count; first = behind) {
      const auto length = [&](std::int32_t segment) {
        return segments.offsets[segment + 1] - segments.offsets[segment];
      };
      while (behind < segments.count && length(behind) == length(first))
        ++behind;
      if (length(first) > 0)
        body(Run{behind - first, length(first), segments.offsets[first]});
    }
  } catch (const std::exception &) {
    loan.rethrowRefusal(); // LibTorch wraps it into words of its own
    throw;
  }
  loan.close();
}

at::Tensor TorchScriptStage::inputOf(const Run &run, const void *input) const {
  if (!range.embedding)
    return at::from_blob(
        const_cast<void *>(elementAt(input, run.token * config.hidden, config.type)),
        {run.samples, run.length, config.hidden}, scalarTypeOf(config.type));
  const auto *tokens = static_cast<const std::int32_t *>(input) + run.token;
  return at::from_blob(const_cast<std::int32_t *>(tokens), {run.samples, run.length},
                       c10::ScalarType::Int)
      .to(c10::ScalarType::Long);
}

/// Of the stage's output, or of the logits in its stash, or of the gradient of either.
at::Tensor TorchScriptStage::outputOf(const Run &run, const void *output) const {
  const std::int64_t width = range.head ? config.vocab : config.hidden;
  return at::from_blob(const_cast<void *>(elementAt(output, run.token * width, config.type)),
                       {run.samples, run.length, width}, scalarTypeOf(config.type));
}

void TorchScriptStage::forward(const Segments &segments, const ForwardOperands &at) const {
  inTask(segments, at.weights, at.workspace, [&](const Run &run) {
    const c10::NoGradGuard withoutGradients;
    outputOf(run, range.head ? at.stash : at.output).copy_(module.run(inputOf(run, at.input)));
  });
}

void TorchScriptStage::loss(const Segments &segments, const LossOperands &at) const {
  *at.loss =
      kernels.crossEntropy(segments.tokens(), config.vocab, {at.stash, config.vocab}, at.labels, 1);
}

void TorchScriptStage::policyLoss(const Segments &segments, const PolicyLossOperands &at,
                                  const PolicyLossSettings &settings) const {
  policyLossOf({kernels, {at.stash, config.vocab}}, segments, at, policyWorkspaceOf(caps),
               settings);
}

void TorchScriptStage::logProbabilities(const Segments &segments,
                                        const LogProbabilityOperands &at) const {
  logProbabilitiesOf({kernels, {at.stash, config.vocab}}, segments.tokens(), at.labels,
                     at.logProbabilities);
}

void TorchScriptStage::backward(const Segments &segments, bool overwrite,
                                const BackwardOperands &at) const {
  differentiate(segments,
                {at.outputGradient, at.input, at.weights, at.stash, at.inputGradient, at.gradients,
                 overwrite},
                at.workspace);
}

void TorchScriptStage::backwardInput(const Segments &segments,
                                     const BackwardInputOperands &at) const {
  if (!range.embedding)
    differentiate(segments,
                  {at.outputGradient, at.input, at.weights, at.stash, at.inputGradient,
                   /*gradients=*/nullptr, /*overwrite=*/false},
                  at.workspace);
}

void TorchScriptStage::backwardWeight(const Segments &segments, bool overwrite,
                                      const BackwardWeightOperands &at) const {
  differentiate(segments,
                {at.outputGradient, at.input, at.weights, at.stash, /*inputGradient=*/nullptr,
                 at.gradients, overwrite},
                at.workspace);
}

void TorchScriptStage::differentiate(const Segments &segments, const Gradients &at,
                                     void *workspace) const {
  bool overwrite = at.overwrite;
  inTask(segments, at.weights, workspace, [&](const Run &run) {
    differentiate(run, at, overwrite);
    overwrite = false;
  });
  if (overwrite && at.gradients) // no run: an empty microbatch
    for (const at::Tensor &gradient : module.viewsOf(at.gradients))
      gradient.zero_();
}

void TorchScriptStage::differentiate(const Run &run, const Gradients &at, bool overwrite) const {
  at::Tensor input = inputOf(run, at.input);
  torch::autograd::variable_list leaves;
  if (at.inputGradient)
    leaves.push_back(input.set_requires_grad(true));
  if (at.gradients)
    leaves.insert(leaves.end(), module.parameters().begin(), module.parameters().end());
  const at::Tensor outputGradient = outputOf(run, range.head ? at.stash : at.outputGradient);
  const torch::autograd::variable_list found = [&] {
    const c10::AutoGradMode withGradients(true);
    return torch::autograd::grad({module.run(input)}, leaves, {outputGradient},
                                 /*retain_graph=*/false, /*create_graph=*/false,
                                 /*allow_unused=*/true);
  }();
  const c10::NoGradGuard withoutGradients;
  const auto write = [](const at::Tensor &to, const at::Tensor &gradient, bool adds) {
    if (!gradient.defined()) // of what the output does not depend on
      return adds ? void() : void(to.zero_());
    adds ? to.add_(gradient) : to.copy_(gradient);
  };
  std::size_t next = 0;
  if (at.inputGradient)
    write(inputOf(run, at.inputGradient), found[next++], /*adds=*/false);
  if (at.gradients)
    for (const at::Tensor &gradient : module.viewsOf(at.gradients))
      write(gradient, found[next++], /*adds=*/!overwrite);
}

} // namespace vime
