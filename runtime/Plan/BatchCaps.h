// BatchCaps: what the buffers of one microbatch, and of a stage, are made for, as a plan says it.
#pragma once

#include "runtime/ModelSpec/EngineRegions.h"
#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Plan/StepHeader.h"

namespace vime::plan {

inline MicrobatchCaps capsOf(const DataSettings &data) {
  return {.tokens = data.tokens,
          .segments = data.samples,
          .segmentTokens = data.sequence,
          .slices = data.slices};
}

/// Of an engine.
inline EngineCaps capsOf(const RolloutSettings &rollout) {
  return {.slots = rollout.slots, .rows = rollout.rows(), .batchTokens = rollout.stepTokens};
}

inline bool hasRounds(const Plan &plan) { return plan.round.rollout.engines != 0; }
/// The first model is the one that is trained; a second one is its reference.
inline bool hasReference(const Plan &plan) { return plan.models.size() > 1; }
inline bool isTrained(const LocalStage &local) { return local.model == 0; }

/// What a rank gathers of a step: RankStats and, where there are rounds, PolicyNumbers behind them.
inline std::uint64_t statsBytes(const Plan &plan) {
  return sizeof(RankStats) + (hasRounds(plan) ? sizeof(PolicyNumbers) : 0);
}

/// How many replicas share the parameters of its stages; 1: each has all of them.
inline std::uint32_t sharersOf(const Plan &plan, const Model &model) {
  return model.sharded ? plan.mesh.data : 1;
}

} // namespace vime::plan
