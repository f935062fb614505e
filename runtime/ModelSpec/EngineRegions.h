// EngineRegions: the bytes that generation takes, and where everything lies in them.
//
//   const EngineCaps caps{.slots = 16, .rows = 320, .batchTokens = 64};
//   const EngineRegions regions = engineRegions(config, caps);
//   regions.cacheBytes  // keys and values of 16 sequences of up to 320 tokens
//
// Pure functions of the model and the caps, as StageRegions is: what is reserved and what the
// engine (runtime/Engine) uses cannot disagree. Offsets are multiples of kRegionAlignment from the
// start of a region.
//
//   cache      slot | slot ..., each layer | layer ...: lives while the engine is awake
//   records    slot | slot ..., each tokens | log-probabilities | of the drawing | versions
//   workspace  of a step, forgotten behind it
#pragma once

#include <cstdint>

#include "runtime/Base/Status.h"
#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/ModelSpec/StageRegions.h"

namespace vime {

struct EngineCaps {
  std::uint32_t slots = 0;       // sequences at a time
  std::uint32_t rows = 0;        // tokens of a sequence, prompt and response
  std::uint32_t batchTokens = 0; // that a step takes, at least one for each slot
};

struct EngineRegions {
  // cache
  std::uint64_t layerCache = 0, slotCache = 0, cacheBytes = 0;

  // records; offsets from the start of a slot's
  std::uint64_t tokens = 0;                  // [rows] int32
  std::uint64_t logProbabilities = 0;        // [rows] double, of new tokens
  std::uint64_t sampledLogProbabilities = 0; // likewise
  std::uint64_t versions = 0;                // [rows] int64, likewise
  std::uint64_t slotRecord = 0, recordBytes = 0;

  // workspace
  std::uint64_t ids = 0;    // [batchTokens] int32
  std::uint64_t states = 0; // [batchTokens, hidden], of one layer after another in place
  std::uint64_t layerAt = 0;
  LayerStash layer;              // of the layer that runs
  std::uint64_t scratch = 0;     // normed or activated rows
  std::uint64_t lastStates = 0;  // [slots, hidden] of the tokens that have a next one
  std::uint64_t reciprocals = 0; // [slots]
  std::uint64_t logits = 0;      // [slots, vocab]
  std::uint64_t weights = 0;     // [vocab] of the softmax of one row, of sumTypeOf the model's
  std::uint64_t ranked = 0;      // [vocab] int32
  std::uint64_t kernels = 0, workspaceBytes = 0;
};

/// Sizes that fit, or why not (InvalidInput).
Status check(const EngineCaps &caps);

/// Of a decoder and caps that `check` accepts.
EngineRegions engineRegions(const ModelConfig &config, EngineCaps caps);

} // namespace vime
