// ModelRun: a whole model on one thread, stage by stage, on regions of exactly the declared sizes.
//
//   ModelRun run(config, /*stages=*/2, caps, kernels, /*seed=*/7);
//   double loss = run.step(batches, ModelRun::Backward::Split);
//
// Every region that a task may not read is poisoned before it, so a stage that relies on old
// content gives NaN.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/Model/Stage.h"
#include "runtime/Model/Update.h"
#include "tests/model/GuardedRegion.h"

namespace vime {

/// One microbatch: packed segments, or one slice of each.
struct Batch {
  std::vector<std::int32_t> tokens, labels, offsets;
  std::int64_t first = 0; // position of each segment's first token
  Segments segments() const { return {offsets.data(), std::int32_t(offsets.size()) - 1, first}; }
};

/// What the loss of a round needs beside it: numbers of tokens, and of segments.
struct PolicyBatch : Batch {
  std::vector<double> advantages, old, sampled, reference, denominators;
};

/// Of a batch whose segments have one length.
std::vector<Batch> slicesOf(const Batch &batch, std::int32_t slices);

/// Segments of these lengths, bytes from a fixed generator, labels the next byte.
Batch randomBatch(const std::vector<std::int32_t> &lengths, std::uint32_t vocab,
                  std::uint64_t seed);

class ModelRun {
public:
  enum class Backward { Combined, Split };
  /// By Hugging Face name, as bytes.
  using Tensors = std::map<std::string, std::vector<std::byte>>;

  ModelRun(const ModelConfig &config, std::uint32_t stages, MicrobatchCaps caps,
           const Kernels &kernels, std::uint64_t seed);

  /// Forward through all stages; logits lie in the last stash.
  void pass(const Batch &batch, std::size_t slot = 0);
  /// The same and the loss; gradients of the logits lie there.
  double forward(const Batch &batch, std::size_t slot = 0);
  /// Behind a pass, of rounds.
  plan::PolicyNumbers policyLoss(const PolicyBatch &batch, const PolicyLossSettings &settings,
                                 std::size_t slot = 0);
  std::vector<double> logProbabilities(const Batch &batch, std::size_t slot = 0) const;
  void backward(const Batch &batch, bool overwrite, Backward kind, std::size_t slot = 0);
  /// Once behind the last backward of a step, where the head is tied.
  void addTiedGradients();
  /// All forwards, then all backwards, then clip at 1 and AdamW; the mean loss.
  double step(std::span<const Batch> batches, Backward kind);
  /// The same with each backward right behind its forward, in the memory of one microbatch.
  double pairedStep(std::span<const Batch> batches);
  /// The batches cut into the slices of the caps: of each a forward slice after slice, then the
  /// backwards from its last slice to its first.
  double slicedStep(std::span<const Batch> batches, Backward kind);

  /// Of the last forward, [tokens, vocab], before the loss.
  std::vector<double> logits(const Batch &batch);

  Tensors weights() const;    // of the model's type, as are those below but for bfloat16
  Tensors gradients() const;  // of its sumTypeOf
  Tensors parameters() const; // the same: masters, or else the weights
  bool fencesIntact() const;

  struct Part {
    StageSpec spec;
    std::unique_ptr<Stage> stage;
    GuardedRegion weights, gradients, moments, tiedGradients;
    GuardedRegion forwardSpace, backwardSpace, inputSpace, weightSpace;
    GuardedRegion context, contextGradients; // of the microbatch whose slices pass
  };
  /// What one microbatch of one stage keeps.
  struct Kept {
    GuardedRegion stash, weightStash, output, inputGradient;
  };
  std::vector<Part> parts;
  std::vector<std::vector<Kept>> slots; // [microbatch][stage]
  double learningRate = 1e-2;
  bool poisoning = true; // off where time is measured

private:
  std::vector<Kept> makeSlot() const;
  /// What the head of a tied model computes with: the embedding, which is first in the weights.
  const void *tiedWeights() const { return config.tiedHead ? parts[0].weights.data() : nullptr; }
  void *tiedGradients() { return config.tiedHead ? parts.back().tiedGradients.data() : nullptr; }
  const void *inputOf(const Batch &batch, std::size_t stage, std::size_t slot) const;
  void poison(std::initializer_list<GuardedRegion *> regions) const;
  /// Scales by 1 / labels, clips at 1, updates.
  void update(double labels);
  /// `addressOf` a part: where its elements lie.
  template <typename Address> Tensors unfused(DataType type, Address addressOf) const;

  const ModelConfig config;
  const MicrobatchCaps caps;
  const Kernels &kernels;
  GuardedRegion policySpace;
  std::uint64_t stepNumber = 0;
};

} // namespace vime
