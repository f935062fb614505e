#include "runtime/ModelSpec/EngineRegions.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/SumType.h"
#include "kernels/Workspace.h"

namespace vime {
namespace {

class Cursor {
public:
  std::uint64_t take(std::uint64_t elements, std::uint64_t bytesOfOne) {
    const std::uint64_t start = at;
    at += alignRegion(elements * bytesOfOne);
    return start;
  }
  std::uint64_t end() const { return at; }

private:
  std::uint64_t at = 0;
};

Attention attentionOf(const ModelConfig &config) {
  return {.heads = std::int32_t(config.heads),
          .keyValueHeads = std::int32_t(config.kvHeads),
          .headWidth = std::int32_t(config.headWidth)};
}

std::uint64_t kernelWorkspace(const ModelConfig &config, EngineCaps caps) {
  std::size_t most =
      attentionWithCacheWorkspace(config.type, attentionOf(config), caps.rows, config.kernels);
  const auto product = [&](std::uint64_t columns, std::uint64_t depth) {
    most = std::max(most, productWorkspace(config.type, std::int64_t(columns), std::int64_t(depth),
                                           config.kernels));
  };
  product(qkvWidth(config), config.hidden);
  product(config.hidden, queryWidth(config));
  product(2ull * config.ffn, config.hidden);
  product(config.hidden, config.ffn);
  product(config.vocab, config.hidden);
  return most;
}

void layCache(EngineRegions &regions, const ModelConfig &config, EngineCaps caps) {
  regions.layerCache = alignRegion(keyValueCacheBytes(config.type, attentionOf(config), caps.rows));
  regions.slotCache = config.layers * regions.layerCache;
  regions.cacheBytes = caps.slots * regions.slotCache;
}

void layRecords(EngineRegions &regions, EngineCaps caps) {
  Cursor slot;
  regions.tokens = slot.take(caps.rows, sizeof(std::int32_t));
  regions.logProbabilities = slot.take(caps.rows, sizeof(double));
  regions.sampledLogProbabilities = slot.take(caps.rows, sizeof(double));
  regions.versions = slot.take(caps.rows, sizeof(std::int64_t));
  regions.slotRecord = slot.end();
  regions.recordBytes = caps.slots * regions.slotRecord;
}

void layWorkspace(EngineRegions &regions, const ModelConfig &config, EngineCaps caps) {
  ModelConfig kept = config;
  kept.recomputesLayers = false;
  regions.layer =
      stageRegions(kept, {0, config.layers, true, true},
                   {.tokens = caps.batchTokens, .segments = 1, .segmentTokens = caps.rows})
          .layer;
  const std::uint64_t element = sizeOf(config.type), sum = sizeOf(sumTypeOf(config.type));
  Cursor space;
  regions.ids = space.take(caps.batchTokens, sizeof(std::int32_t));
  regions.states = space.take(std::uint64_t(caps.batchTokens) * config.hidden, element);
  regions.layerAt = space.take(regions.layer.bytes, 1);
  regions.scratch =
      space.take(std::uint64_t(caps.batchTokens) * std::max(config.hidden, config.ffn), element);
  regions.lastStates = space.take(std::uint64_t(caps.slots) * config.hidden, element);
  regions.reciprocals = space.take(caps.slots, sum);
  regions.logits = space.take(std::uint64_t(caps.slots) * config.vocab, element);
  regions.weights = space.take(config.vocab, sum);
  regions.ranked = space.take(config.vocab, sizeof(std::int32_t));
  regions.kernels = space.take(kernelWorkspace(config, caps), 1);
  regions.workspaceBytes = space.end();
}

} // namespace

Status check(const EngineCaps &caps) {
  constexpr std::uint32_t kMost = 1u << 30; // positions are int32
  if (caps.slots >= 1 && caps.slots <= caps.batchTokens && caps.rows >= 2 && caps.rows <= kMost &&
      caps.batchTokens <= kMost)
    return Status();
  return Status(StatusCode::InvalidInput,
                fmt::format("an engine of {} slots with {} rows that takes {} tokens a step",
                            caps.slots, caps.rows, caps.batchTokens));
}

EngineRegions engineRegions(const ModelConfig &config, EngineCaps caps) {
  EngineRegions regions;
  layCache(regions, config, caps);
  layRecords(regions, caps);
  layWorkspace(regions, config, caps);
  return regions;
}

} // namespace vime
