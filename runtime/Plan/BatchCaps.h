// BatchCaps: what the buffers of one microbatch are made for, as a plan says it.
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

} // namespace vime::plan
