#include "runtime/Data/Permutation.h"

namespace vime {
namespace {

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

} // namespace

Permutation::Permutation(std::uint64_t count, std::uint64_t seed, std::uint64_t epoch)
    : count(count), halfBits(1) {
  while (halfBits < 32 && (std::uint64_t(1) << (2 * halfBits)) < count)
    ++halfBits;
  std::uint64_t key = mix(mix(seed) + epoch);
  for (std::uint64_t &round : keys)
    round = key = mix(key);
}

std::uint64_t Permutation::operator()(std::uint64_t index) const {
  do
    index = feistel(index);
  while (index >= count);
  return index;
}

std::uint64_t Permutation::feistel(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t(1) << halfBits) - 1;
  std::uint64_t left = value >> halfBits, right = value & mask;
  for (std::uint64_t key : keys) {
    const std::uint64_t turned = left ^ (mix(right ^ key) & mask);
    left = right;
    right = turned;
  }
  return left << halfBits | right;
}

} // namespace vime
