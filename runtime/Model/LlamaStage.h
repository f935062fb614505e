// LlamaStage: the layers of a stage in a row, the embedding before the first, the head behind the
// last.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/Model/LlamaTensors.h"
#include "runtime/Model/Stage.h"
#include "runtime/ModelSpec/StageRegions.h"

namespace vime {

class LlamaStage final : public Stage {
public:
  LlamaStage(const ModelConfig &config, StageRange range, MicrobatchCaps caps,
             const Kernels &kernels);

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
  template <typename Pointer> LayerKept<Pointer> layerKept(Pointer start) const;
  /// A layer's part of the stash, or `again`, where its forward runs again.
  template <typename Pointer>
  LayerKept<Pointer> layerKept(Pointer stash, Pointer again, std::uint32_t index) const;
  template <typename Pointer> LayerPassed<Pointer> layerPassed(Pointer part) const;

  /// Of a layer and one slice; empty where samples are whole.
  SliceContext contextOf(const Segments &segments, std::uint32_t index, const void *context,
                         void *gradients) const;

  /// The stage's own, or what a tied model hands in.
  const void *headMatrix(const void *weights, const void *tied) const;
  void *headGradient(void *gradients, void *tied) const;
  void headInput(std::int64_t tokens, const void *weights, const void *matrix, const void *stash,
                 void *stateGradient, void *normGradient, void *kernelWorkspace) const;
  void headWeight(std::int64_t tokens, bool overwrite, const void *weights, const void *stash,
                  const void *normGradient, void *gradients, void *matrixGradient,
                  LayerScratch scratch) const;
  void embeddingWeight(std::int64_t tokens, bool overwrite, const void *ids,
                       const void *stateGradient, void *gradients) const;

  std::uint32_t layers() const { return range.end - range.first; }
  Linear headProduct(std::int64_t tokens) const;

  const ModelConfig config;
  const StageRange range;
  const MicrobatchCaps caps;
  const Kernels &kernels;
  const StageRegions regions;
  const LlamaTensors inWeights, inGradients;
  /// Cosines and sines for the longest segment: constant, and the only memory that a stage owns.
  const std::unique_ptr<std::byte[]> ropeTable;
  const LlamaLayer layer;
};

} // namespace vime
