// RunObserver: who wants to see how a run goes. Told by the coordinator's host lane, once per step.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/Plan/StepHeader.h"

namespace vime {

/// One optimizer step. Plain bytes: crosses a pipe between processes as it is.
struct StepRecord {
  std::uint64_t step = 0;
  double loss = 0;         // mean over the tokens with a label
  double gradientNorm = 0; // before clipping
  double learningRate = 0;
  std::uint64_t tokens = 0;
};

class RunObserver {
public:
  virtual ~RunObserver() = default;
  /// `ranks`: counters of this step, by rank.
  virtual void stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) = 0;
  virtual void exported() = 0;
  /// A checkpoint behind that many steps can be resumed from now on.
  virtual void saved(std::uint64_t steps) = 0;
};

} // namespace vime
