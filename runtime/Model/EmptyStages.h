// EmptyStages: stages without arithmetic. `null` does nothing, to measure executor and transports;
// `sleep` lasts as long as declared, to rehearse an order's timing. Both write what others read: a
// zero loss and zero gradients.
#pragma once

#include "runtime/Model/Stage.h"

namespace vime {

class NullStage : public Stage {
public:
  explicit NullStage(std::uint64_t gradientBytes) : gradientBytes(gradientBytes) {}
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
  std::uint64_t gradientBytes;
};

class SleepStage final : public NullStage {
public:
  SleepStage(const ModelConfig &config, std::uint64_t gradientBytes)
      : NullStage(gradientBytes), config(config) {}
  void forward(const Segments &segments, const ForwardOperands &at) const override;
  void backward(const Segments &segments, bool overwrite,
                const BackwardOperands &at) const override;
  void backwardInput(const Segments &segments, const BackwardInputOperands &at) const override;
  void backwardWeight(const Segments &segments, bool overwrite,
                      const BackwardWeightOperands &at) const override;

private:
  const ModelConfig config;
};

} // namespace vime
