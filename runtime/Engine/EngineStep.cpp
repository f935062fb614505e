// One step: rows of many sequences through the model together, each attending to its own cache.
#include "runtime/Engine/Engine.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace vime {

StatusOr<StepCounts> Engine::step(void *workspace) {
  if (paused)
    return Status(StatusCode::Internal, "the engine steps while it is paused");
  planParts();
  if (parts.empty())
    return StepCounts{};
  embed(workspace);
  for (std::uint32_t index = 0; index < config.layers; ++index)
    runLayer(index, workspace);
  runHead(workspace);
  return drawAll(workspace);
}

/// Whoever decodes comes first; what is left goes to prompts, those that came first before others.
void Engine::planParts() {
  parts.clear();
  for (const int slot : order)
    copyShared(slot);
  for (const int slot : order)
    if (sequences[std::size_t(slot)].pending() == 1)
      addPart(slot, 1);
  std::int64_t left = std::int64_t(caps.batchTokens) - rowsOfParts();
  for (const int slot : order) {
    const std::int64_t pending = sequences[std::size_t(slot)].pending();
    const std::int64_t count = std::min(pending, left);
    if (pending == 1 || count == 0 || waits(slot))
      continue;
    addPart(slot, count);
    left -= count;
  }
}

/// Of samples of the same prompt. Whoever came earlier will have more; its last token each sequence
/// computes itself.
Engine::Shared Engine::findShared(int slot) const {
  const Sequence &own = sequences[std::size_t(slot)];
  Shared best;
  for (int other = 0; other < int(caps.slots); ++other) {
    const Sequence &sequence = sequences[std::size_t(other)];
    if (other == slot || sequence.state == Sequence::State::Free || sequence.prompt != own.prompt ||
        !sequence.isCurrent)
      continue;
    const std::int32_t *tokens = recordOf(slot).tokens;
    const std::int32_t most = std::min(own.length - 1, sequence.length);
    const auto common =
        std::int32_t(std::mismatch(tokens, tokens + most, recordOf(other).tokens).first - tokens);
    const std::int32_t ready = std::min(sequence.cached, common);
    const bool grows = sequence.isLive() && sequence.arrival < own.arrival;
    const std::int32_t coming = grows ? common : ready;
    if (coming > best.coming || (coming == best.coming && ready > best.ready))
      best = {other, ready, coming};
  }
  return best;
}

bool Engine::waits(int slot) const {
  if (sequences[std::size_t(slot)].cached > 0)
    return false;
  const Shared shared = findShared(slot);
  return shared.ready < shared.coming;
}

void Engine::copyShared(int slot) {
  Sequence &sequence = sequences[std::size_t(slot)];
  if (sequence.cached > 0 || sequence.length == 1)
    return;
  const Shared shared = findShared(slot);
  if (shared.ready == 0 || shared.ready < shared.coming)
    return;
  for (std::uint32_t index = 0; index < config.layers; ++index)
    kernels.copyCached(layer.attention(), shared.ready, cacheOf(shared.slot, index),
                       cacheOf(slot, index));
  sequence.cached = shared.ready;
}

void Engine::addPart(int slot, std::int64_t count) {
  parts.push_back({slot, rowsOfParts(), count});
}

std::int64_t Engine::rowsOfParts() const {
  return parts.empty() ? 0 : parts.back().row + parts.back().count;
}

KeyValueCache Engine::cacheOf(int slot, std::uint32_t index) const {
  return {cache + std::uint64_t(slot) * regions.slotCache +
              std::uint64_t(index) * regions.layerCache,
          caps.rows};
}

void Engine::embed(void *workspace) const {
  auto *ids = static_cast<std::int32_t *>(bytesFrom(workspace, regions.ids));
  for (const Part &part : parts) {
    const std::int32_t *tokens = recordOf(part.slot).tokens;
    std::copy_n(tokens + sequences[std::size_t(part.slot)].cached, part.count, ids + part.row);
  }
  kernels.embeddingForward(rowsOfParts(), config.hidden, weights.embedding(), ids,
                           {bytesFrom(workspace, regions.states), config.hidden});
}

void Engine::runLayer(std::uint32_t index, void *workspace) const {
  const std::int64_t rows = rowsOfParts();
  const LayerTensors<const void *> of = weights.layer(index);
  void *const states = bytesFrom(workspace, regions.states);
  void *const start = bytesFrom(workspace, regions.layerAt);
  const LayerStash &in = regions.layer;
  const LayerKept<void *> kept{
      bytesFrom(start, in.reciprocal1),    bytesFrom(start, in.qkv),
      bytesFrom(start, in.attended),       bytesFrom(start, in.lse),
      bytesFrom(start, in.middle),         bytesFrom(start, in.reciprocal2),
      bytesFrom(start, in.gateUp),         bytesFrom(start, in.rawHeads),
      bytesFrom(start, in.headReciprocals)};
  const LayerScratch scratch{bytesFrom(workspace, regions.scratch),
                             bytesFrom(workspace, regions.kernels)};
  layer.beforeAttention(rows, of, kept, states, scratch);
  attend(index, kept, scratch.kernels);
  layer.afterAttention(rows, of, kept, states, scratch);
  layer.feedForward(rows, of, kept, states, scratch);
}

void Engine::attend(std::uint32_t index, const LayerKept<void *> &kept, void *scratch) const {
  const std::int64_t qkvStride = std::int64_t(qkvWidth(config)),
                     outStride = std::int64_t(queryWidth(config));
  for (const Part &part : parts) {
    const std::int64_t first = sequences[std::size_t(part.slot)].cached;
    const std::int32_t offsets[] = {0, std::int32_t(part.count)};
    void *const qkv = elementAt(kept.qkv, part.row * qkvStride, config.type);
    void *const out = elementAt(kept.attended, part.row * outStride, config.type);
    layer.rotate({offsets, 1, first}, qkv);
    kernels.attentionWithCache(layer.attention(), first, part.count, {qkv, qkvStride},
                               cacheOf(part.slot, index), {out, outStride}, scratch);
  }
}

void Engine::runHead(void *workspace) {
  const std::uint64_t state = config.hidden * sizeOf(config.type);
  const auto *states = static_cast<const std::byte *>(bytesFrom(workspace, regions.states));
  auto *last = static_cast<std::byte *>(bytesFrom(workspace, regions.lastStates));
  ends.clear();
  for (const Part &part : parts) {
    Sequence &sequence = sequences[std::size_t(part.slot)];
    sequence.cached += std::int32_t(part.count);
    if (sequence.pending() > 0)
      continue;
    std::memcpy(last + ends.size() * state,
                states + std::uint64_t(part.row + part.count - 1) * state, state);
    ends.push_back(part.slot);
  }
  const std::int64_t rows = std::int64_t(ends.size()), hidden = config.hidden;
  const Matrix normed{bytesFrom(workspace, regions.scratch), hidden};
  kernels.rmsNormForward({rows, hidden, config.normEpsilon}, {last, hidden}, weights.norm(), normed,
                         bytesFrom(workspace, regions.reciprocals));
  linearForward(kernels, {rows, hidden, config.vocab, /*hasFewTokens=*/true}, normed,
                weights.head(), kNoMatrix, {bytesFrom(workspace, regions.logits), config.vocab},
                bytesFrom(workspace, regions.kernels));
}

StatusOr<StepCounts> Engine::drawAll(void *workspace) {
  const Sampler sampler(kernels, std::int32_t(config.vocab), bytesFrom(workspace, regions.weights),
                        static_cast<std::int32_t *>(bytesFrom(workspace, regions.ranked)));
  const StepCounts counts{std::uint32_t(rowsOfParts()), std::uint32_t(ends.size())};
  for (std::size_t row = 0; row < ends.size(); ++row) {
    Sequence &sequence = sequences[std::size_t(ends[row])];
    const SequenceRecord record = recordOf(ends[row]);
    const Drawn drawn = sampler.draw(sequence.sampling,
                                     elementAt(bytesFrom(workspace, regions.logits),
                                               std::int64_t(row) * config.vocab, config.type),
                                     uniformAt(sequence.nextDraw()));
    if (!std::isfinite(drawn.logProbability))
      return Status(
          StatusCode::RankFailed,
          fmt::format("the logits of sample {} of prompt {} at position {} are no numbers",
                      sequence.sample, sequence.prompt, sequence.length));
    const std::int32_t fresh = sequence.length - sequence.given;
    record.tokens[sequence.length++] = drawn.token;
    record.logProbabilities[fresh] = drawn.logProbability;
    record.sampledLogProbabilities[fresh] = drawn.sampledLogProbability;
    record.versions[fresh] = lastVersion;
    if (sequence.stopsAt(drawn.token))
      finish(sequence, Finish::Stop);
    else if (sequence.length == sequence.most)
      finish(sequence, Finish::Length);
  }
  return counts;
}

} // namespace vime
