// RoundPlan: the samples of a round, cut into optimizer steps and packed into the microbatches of
// every replica.
//
//   StatusOr<std::vector<RoundStep>> steps =
//       planRound(samples, {.rollouts = 64, .replicas = 2, .room = {.tokens = 512, .samples =
//       16}});
//   (*steps)[0].replicas[1][3]     // samples of the fourth microbatch of the second replica
//
// A step has so many rollouts (executions), in the order in which they first come; one that fanned
// out into several samples stays in one step. Every sample of the round is in one microbatch of one
// step, or planRound says why not: none is dropped, none is split. A pure function of its
// arguments: everybody who has them finds the same plan.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Data/Packing.h"

namespace vime {

struct RoundSample {
  std::uint32_t rollout; // which execution it is part of, any number
  std::uint32_t tokens;
};

enum class PackingRule : std::uint8_t {
  FirstFit, // in order, each into the first microbatch with room; replicas take runs (Share.h)
  Balanced, // costliest first, each into the cheapest microbatch with room; replicas as even in
            // cost
};

/// What computing a sample costs, of n tokens: linear · n + quadratic · n².
struct SampleCost {
  double linear = 1, quadratic = 0;
};

/// Of rollouts that do not fill the last step.
enum class LastStep : std::uint8_t { Refuse, Short };

struct RoundShape {
  std::uint32_t rollouts = 1; // of a step
  LastStep last = LastStep::Refuse;
  std::uint32_t replicas = 1;
  std::uint32_t group = 1; // microbatches of a replica are a multiple of it
  std::uint32_t most = 0;  // microbatches of a replica for which there is room; 0: no bound
  Packing::Room room;
  PackingRule rule = PackingRule::FirstFit;
  SampleCost cost;
};

using PlannedMicrobatch = std::vector<std::uint32_t>; // places of samples in the round, ascending

struct RoundStep {
  std::uint32_t rollouts = 0;
  /// Of each replica, all of one length: behind those with samples are empty ones, as many as it
  /// needs.
  std::vector<std::vector<PlannedMicrobatch>> replicas;
};

StatusOr<std::vector<RoundStep>> planRound(std::span<const RoundSample> samples,
                                           const RoundShape &shape);

} // namespace vime
