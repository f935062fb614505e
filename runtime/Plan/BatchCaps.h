// BatchCaps: what the buffers of one microbatch, and of a stage, are made for, as a plan says it.
#pragma once

#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/Plan/Plan.h"

namespace vime::plan {

inline MicrobatchCaps capsOf(const DataSettings &data) {
  return {.tokens = data.tokens,
          .segments = data.samples,
          .segmentTokens = data.sequence,
          .slices = data.slices};
}

/// How many replicas share the parameters of its stages; 1: each has all of them.
inline std::uint32_t sharersOf(const Plan &plan, const Model &model) {
  return model.sharded ? plan.mesh.data : 1;
}

} // namespace vime::plan
