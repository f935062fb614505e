// TorchDecoder: a Llama, Qwen2 or Qwen3 decoder in plain LibTorch operations under autograd,
// written without a look at our stages.
//
// The oracle of tests: values go in and come out as float64, arithmetic is done in the type of the
// config; of bfloat16 as LibTorch rounds it, which is after every operation, with float32 leaves
// that each forward rounds. Only TorchDecoder.cpp knows LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

using Values = std::vector<double>;

/// Parameters or gradients by Hugging Face name.
struct NamedTensor {
  std::vector<std::int64_t> shape;
  Values values;
};
using NamedTensors = std::map<std::string, NamedTensor>;

/// One microbatch of packed segments.
struct TorchBatch {
  std::vector<std::int32_t> tokens, labels, offsets;
};

/// What autograd finds for one stage alone.
struct TorchStageResult {
  Values output;        // [tokens, hidden]; on the last stage the logits
  double loss = 0;      // last stage: plain sum over labelled tokens
  Values inputGradient; // empty on the first stage
  NamedTensors gradients;
};

/// Runs layers [range.first, range.end). `input`: the activation [tokens, hidden], not used by the
/// first stage; `outputGradient`: of the output; where the last stage has none, gradients are those
/// of the summed loss.
TorchStageResult torchStage(const ModelConfig &config, StageRange range,
                            const NamedTensors &parameters, const TorchBatch &batch,
                            const Values &input, const Values &outputGradient);

/// The whole model trained as a user of PyTorch would: mean loss of the step, clip_grad_norm_(1),
/// AdamW.
class TorchTraining {
public:
  TorchTraining(const ModelConfig &config, const NamedTensors &parameters, double learningRate,
                double weightDecay);
  ~TorchTraining();
  /// One optimizer step over the microbatches; the mean loss over labelled tokens.
  double step(std::span<const TorchBatch> batches);
  /// The same for a loss of the caller's, of whose slopes by the logits [tokens, vocab] it is told;
  /// the norm of the gradient before it is clipped.
  double descend(const TorchBatch &batch,
                 const std::function<Values(const Values &logits)> &slopesOf);
  NamedTensors parameters() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace vime
