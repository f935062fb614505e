// Draw: the random number of one token.
//
//   double u = uniformAt({.seed = 7, .prompt = 12, .sample = 3, .position = 40}); // in [0, 1)
//
// A function of its four arguments and of nothing else: Philox4x32-10 (Salmon et al. 2011) with the
// seed for a key and the others for a counter. So a token does not depend on what was drawn before
// it, for whom, or by which engine.
#pragma once

#include <array>
#include <cstdint>

namespace vime {

struct DrawKey {
  std::uint64_t seed, prompt;
  std::uint32_t sample;
  std::uint32_t position; // of the token in its sequence, prompt included
};

using PhiloxCounter = std::array<std::uint32_t, 4>;

constexpr PhiloxCounter philox(PhiloxCounter counter, std::uint64_t key) {
  std::uint32_t first = std::uint32_t(key), second = std::uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t left = std::uint64_t(0xD2511F53u) * counter[0];
    const std::uint64_t right = std::uint64_t(0xCD9E8D57u) * counter[2];
    counter = {std::uint32_t(right >> 32) ^ counter[1] ^ first, std::uint32_t(right),
               std::uint32_t(left >> 32) ^ counter[3] ^ second, std::uint32_t(left)};
    first += 0x9E3779B9u;
    second += 0xBB67AE85u;
  }
  return counter;
}

/// 53 random bits over 2^53.
constexpr double uniformAt(const DrawKey &key) {
  const PhiloxCounter random =
      philox({std::uint32_t(key.prompt), std::uint32_t(key.prompt >> 32), key.sample, key.position},
             key.seed);
  return double((std::uint64_t(random[1]) << 32 | random[0]) >> 11) * 0x1p-53;
}

} // namespace vime
