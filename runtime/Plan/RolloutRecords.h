// RolloutRecords: what coordinator and engines send each other, as bytes of plan buffers.
//
//   prompts   BatchHeader | PromptRecord and its tokens | …     drawn by the coordinator
//   samples   BatchHeader | SampleRecord and its parts | …      of one engine; of all: one behind
//                                                                the other
//   round     the same, of all samples that a round trains on   with rewards and advantages
//
// A record has room for the longest prompt or sequence; what is behind its `tokens` means nothing.
// Strides are multiples of 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/Plan/Round.h"

namespace vime::plan {

struct BatchHeader {
  std::uint64_t count = 0;        // records
  std::uint64_t isEvaluation = 0; // 1: sampled as PromptEvaluation says
  // Of an engine's samples, to be told: nothing is made of them.
  double generationSeconds = 0;
  double syncSeconds = 0; // from the latest pause to its end
};

/// A prompt, of which `samples` responses are wanted. Its tokens follow.
struct PromptRecord {
  std::uint64_t draw = 0; // names it in the run; an evaluation's ones begin at kFirstEvaluationDraw
  std::uint64_t prompt = 0; // its place in the file
  std::uint32_t samples = 0;
  std::uint32_t tokens = 0;
};
/// Draws of evaluations have names, and so random numbers, of their own.
inline constexpr std::uint64_t kFirstEvaluationDraw = std::uint64_t{1} << 63;

/// A sequence. Behind it: log-probabilities of the response's tokens (double, `maxNew`), those of
/// the distribution that they were drawn from (likewise), all tokens (int32, `rows`).
struct SampleRecord {
  std::uint64_t draw = 0, prompt = 0; // of the prompt
  std::uint32_t sample = 0;           // of the draw
  std::uint32_t promptTokens = 0;
  std::uint32_t tokens = 0; // with the prompt's
  std::uint32_t finish = 0; // vime::Finish: stop, length, aborted
  std::int64_t version = 0; // of the weights that drew it
  double reward = 0;
  double advantage = 0;   // of each of its tokens
  double denominator = 0; // of its tokens' losses, over its whole step
};

constexpr std::size_t toEight(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

constexpr std::size_t promptStride(const RolloutSettings &rollout) {
  return toEight(sizeof(PromptRecord) + rollout.maxPrompt * sizeof(std::int32_t));
}
constexpr std::size_t sampleStride(const RolloutSettings &rollout) {
  return toEight(sizeof(SampleRecord) + 2 * rollout.maxNew * sizeof(double) +
                 rollout.rows() * sizeof(std::int32_t));
}

constexpr std::size_t promptsBytes(const RoundSettings &round) {
  return sizeof(BatchHeader) + mostPrompts(round) * promptStride(round.rollout);
}
/// Of one engine.
constexpr std::size_t samplesBytes(const RoundSettings &round) {
  return sizeof(BatchHeader) + mostSamplesOfEngine(round) * sampleStride(round.rollout);
}
constexpr std::size_t roundBytes(const RoundSettings &round) {
  return sizeof(BatchHeader) +
         std::size_t{round.rollout.prompts} * round.rollout.samples * sampleStride(round.rollout);
}

template <typename Byte> Byte *recordAt(Byte *batch, std::size_t stride, std::size_t index) {
  return batch + sizeof(BatchHeader) + index * stride;
}

/// Parts of a record of a sample.
template <typename Byte> auto *logProbabilitiesOf(Byte *record) {
  using Number = std::conditional_t<std::is_const_v<Byte>, const double, double>;
  return reinterpret_cast<Number *>(record + sizeof(SampleRecord));
}
template <typename Byte> auto *sampledOf(Byte *record, const RolloutSettings &rollout) {
  return logProbabilitiesOf(record) + rollout.maxNew;
}
template <typename Byte> auto *tokensOf(Byte *record, const RolloutSettings &rollout) {
  using Number = std::conditional_t<std::is_const_v<Byte>, const std::int32_t, std::int32_t>;
  return reinterpret_cast<Number *>(sampledOf(record, rollout) + rollout.maxNew);
}

// ---- what the last stage needs of a microbatch beside tokens and labels ----

/// Slots of the buffer `policy`; offsets from the start of a slot, of numbers (double).
struct PolicyRegion {
  std::size_t advantages = 0;   // [tokens]
  std::size_t old = 0;          // [tokens] log-probabilities before the round's first step
  std::size_t sampled = 0;      // [tokens] those that the tokens were drawn with
  std::size_t denominators = 0; // [segments]
  std::size_t bytes = 0;
};
constexpr PolicyRegion policyRegion(std::size_t tokens, std::size_t segments) {
  const std::size_t row = tokens * sizeof(double);
  return {.advantages = 0,
          .old = row,
          .sampled = 2 * row,
          .denominators = 3 * row,
          .bytes = 3 * row + segments * sizeof(double)};
}

/// What `policy_loss` leaves of a microbatch in `losses`: sums over its tokens with a label.
struct PolicyNumbers {
  double loss = 0; // already divided by denominators; first, as the loss of a text is
  double kl = 0, ratio = 0, entropy = 0;
  double drift = 0;   // of |log p - old| the largest: at first between trainer and engine
  double clipped = 0; // tokens
  double corrected = 0;
  double tokens = 0; // that have a label
};

} // namespace vime::plan
