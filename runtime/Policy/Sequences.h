// Sequences: the tokens of several samples, one behind the other, as a microbatch has them.
//
//   const std::uint32_t begins[] = {0, 3, 5};    // two sequences, of three tokens and of two
//   const std::uint8_t mask[] = {1, 0, 1, 1, 1};
//   Sequences{begins, mask}.count()              // 2
//
// A sequence is one sample: all its segments in order. The mask says of each token whether the
// policy chose it and learns from it; prompts, answers of an environment and what a filter took out
// have 0, and are no steps of the policy: whatever goes from token to token goes over them.
// Numbers of tokens (log-probabilities, advantages) have the same places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/Base/Status.h"

namespace vime {

struct Sequences {
  std::span<const std::uint32_t> begins; // of each, and the end of the last
  std::span<const std::uint8_t> mask;    // of each token

  std::size_t count() const { return begins.empty() ? 0 : begins.size() - 1; }
  std::size_t tokens() const { return mask.size(); }
};

/// Whether sequences lie one behind the other and have all tokens.
Status checkSequences(const Sequences &sequences);

/// Whether there is a number for each of so many tokens (or sequences); `what` they are.
Status checkCount(const char *what, std::size_t found, std::size_t expected);

/// Tokens with mask 1.
std::uint32_t trainedTokens(const Sequences &sequences, std::size_t sequence);

} // namespace vime
