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
  std::uint64_t microbatches = 0;
  std::uint64_t skipped = 0; // 1: the gradients were not finite, no parameter has changed
};

/// Held-out text behind a step. Plain bytes too.
struct EvaluationRecord {
  std::uint64_t step = 0; // the latest one
  double loss = 0;        // mean over the tokens with a label
  std::uint64_t tokens = 0;
  std::uint64_t ends = 0; // 1: the run ends with it, before its last step
};

/// A process whose ranks have ended well.
struct ResidentRecord {
  std::uint32_t first = 0, ranks = 0; // its ranks
  std::uint64_t bytes = 0;            // most that it had resident
};

class RunObserver {
public:
  virtual ~RunObserver() = default;
  /// `ranks`: counters of this step, by rank.
  virtual void stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) = 0;
  virtual void evaluated(const EvaluationRecord &) {}
  virtual void exported() = 0;
  /// A checkpoint behind that many steps can be resumed from now on.
  virtual void saved(std::uint64_t steps) = 0;
  /// Behind everything else, once for each process that tells.
  virtual void measured(const ResidentRecord &) {}
};

} // namespace vime
