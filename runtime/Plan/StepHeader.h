// The step header: the decision `@step`, made by the coordinator, sent to every rank before it is
// used.
//
// Lies in a plan buffer of `StepHeader::bytes(microbatches)` bytes; the token count of each
// microbatch follows the fixed part. Bytes on the wire, loss scales and skipped work come from here
// and from nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vime::plan {

struct StepHeader {
  std::uint64_t step;         // 0-based
  std::uint64_t updates;      // of the optimizer before this step: those that were not skipped
  double denominator;         // labelled tokens of the step, of all replicas; divides losses and
                              // gradients
  double learningRate;        // of this step
  std::uint32_t microbatches; // of this step
  std::uint32_t evaluate;     // 1: an evaluation follows
  std::uint32_t save;         // 1: a checkpoint follows
  std::uint32_t stop;         // 1: the last step
  std::uint32_t pending;      // 1: the step before is not settled yet
  std::uint32_t settle;       // 1: this one is settled at its own end
  std::uint32_t rollout;      // 1: it begins a round
  std::uint32_t unused;
  std::uint64_t round; // 0-based; of a plan without rounds the step

  /// Tokens of each microbatch of the replica in the present pass; zero behind the last one.
  std::uint32_t *tokens() { return reinterpret_cast<std::uint32_t *>(this + 1); }
  const std::uint32_t *tokens() const { return reinterpret_cast<const std::uint32_t *>(this + 1); }

  static constexpr std::size_t bytes(std::size_t microbatches) {
    return sizeof(StepHeader) + microbatches * sizeof(std::uint32_t);
  }
};
static_assert(sizeof(StepHeader) == 72);

/// What `clip` and `settle` write and `optimize`, `redo` and `report` read.
struct StepScalars {
  double gradientNorm;   // of the scaled gradients, before clipping
  double clipFactor;     // min(1, clip / (norm + 1e-6)); the optimizer multiplies gradients by it
  std::uint64_t bad;     // 1: the norm is not finite, so the optimizer is skipped
  std::uint64_t verdict; // Decision::Verdict, on an optimizer that has run early
};

/// What `measure`, `export_shard` and `checkpoint_shard` write on each rank and the coordinator
/// gathers. Counters of the current step, and of files those of the run.
struct RankStats {
  std::uint64_t computeNanoseconds; // busy in compute actions
  std::uint64_t stepNanoseconds;    // wall time of the step on this rank
  std::uint64_t actions;            // dispatched in the step
  std::uint64_t exportedTensors;    // written by `export_shard` so far
  std::uint64_t savedSteps;  // steps done in the latest snapshot that is on the disk; 0: none
  std::uint64_t savedStages; // of which the shards are on the disk
  std::uint64_t tokens;      // of the replica's microbatches
  double loss;               // their sum, on the rank that has them; else 0
  std::uint64_t step;        // of the header, as what follows
  double denominator;
  double learningRate;
  std::uint64_t microbatches;
};

} // namespace vime::plan
