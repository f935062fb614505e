// RoundBatch: the microbatches of one optimizer step of a round, made from the buffer `round`.
//
//   StatusOr<RoundBatch> batch = RoundBatch::make(plan.round, plan.data, /*replicas=*/2,
//                                                 header.step % plan.round.rollout.steps, round);
//   batch->microbatches()                             // of each replica
//   batch->fill({.replica = 1, .microbatch = 0}, {tokens, labels, segments, policy});
//
// A pure function of the buffer: coordinator and replicas find the same microbatches (RoundPlan).
// A sample of n tokens gives n - 1 inputs; the label of an input is the token behind it, or -1
// where that is the prompt's. What the loss needs of a token stands where its label stands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/Base/Status.h"
#include "runtime/Data/RoundPlan.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Plan/RolloutRecords.h"

namespace vime {

class RoundBatch {
public:
  struct Place {
    std::uint32_t replica = 0, microbatch = 0;
  };
  /// Slots of the buffers of a microbatch; `segments` has data.samples + 1 numbers, `policy` the
  /// bytes of policyRegion(data.tokens, data.samples).
  struct Slots {
    std::int32_t *tokens, *labels, *segments;
    std::byte *policy;
  };

  /// `round` must outlive it. Unacceptable: the buffer is not one of this plan. InvalidInput: its
  /// samples fit no microbatch.
  static StatusOr<RoundBatch> make(const plan::RoundSettings &settings,
                                   const plan::DataSettings &data, std::uint32_t replicas,
                                   std::uint32_t step, const std::byte *round);

  std::uint32_t samples() const { return stepSamples; }
  /// Of each replica; those behind a replica's last sample are empty.
  std::uint32_t microbatches() const;
  /// 0 of an empty one, and of those behind the last one.
  std::uint32_t tokensOf(Place place) const;
  /// Writes an empty one behind the last one.
  void fill(Place place, const Slots &slots) const;

private:
  RoundBatch() = default;
  const plan::SampleRecord &recordAt(std::uint32_t sample) const;
  const PlannedMicrobatch *find(Place place) const;

  plan::RolloutSettings rollout;
  std::uint32_t roomTokens = 0, roomSamples = 0; // of a microbatch
  const std::byte *round = nullptr;
  std::uint32_t firstSample = 0, stepSamples = 0; // places in the round
  RoundStep step;
};

} // namespace vime
