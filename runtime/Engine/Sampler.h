// Sampler: from the logits of one token to the next one.
//
//   const Sampler sampler(kernels, vocabulary, weights, ranked);
//   Drawn drawn = sampler.draw({.temperature = 0.8, .topP = 0.95}, logits, u);
//
// The words that may come are cut down as vLLM and Hugging Face do: divide by the temperature, keep
// the `topK` likeliest words, of those the likeliest whose share reaches `topP`. Where words are
// equally likely, lower ids come first, so that exactly k are kept, and `topK = 1` is greedy.
#pragma once

#include <cstdint>

#include "kernels/Kernels.h"
#include "runtime/Base/Status.h"

namespace vime {

struct Sampling {
  double temperature = 1; // 0: the likeliest word
  double topP = 1;        // 1: all words
  std::int32_t topK = 0;  // 0: all words
};

/// Temperatures of at least 0, shares in (0, 1], counts of at least 0; or why not (InvalidInput).
Status check(const Sampling &sampling);

struct Drawn {
  std::int32_t token;
  /// Of the untempered, whole distribution: what a trainer computes.
  double logProbability;
  /// Of the distribution it was drawn from; 0 where only one word could come.
  double sampledLogProbability;
};

class Sampler {
public:
  /// Room for one row: `weights` of sumType(), and `ranked`.
  Sampler(const Kernels &kernels, std::int32_t vocabulary, void *weights, std::int32_t *ranked)
      : kernels(kernels), vocabulary(vocabulary), weights(weights), ranked(ranked) {}

  /// The word at `uniform`, in [0, 1), of the cumulative distribution by ascending id. With logits
  /// that are not numbers the log-probability is none either.
  Drawn draw(const Sampling &sampling, const void *logits, double uniform) const;

private:
  template <typename E>
  Drawn drawFrom(const Sampling &sampling, const E *logits, double uniform) const;
  double logProbability(const void *logits, std::int32_t token) const;

  const Kernels &kernels;
  const std::int32_t vocabulary;
  void *const weights;
  std::int32_t *const ranked;
};

} // namespace vime
