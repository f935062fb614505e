#include "runtime/Policy/Sequences.h"

#include <algorithm>

#include <fmt/format.h>

namespace vime {

Status checkSequences(const Sequences &sequences) {
  const auto &begins = sequences.begins;
  if (begins.empty() || begins.front() != 0 || !std::is_sorted(begins.begin(), begins.end()))
    return {StatusCode::InvalidInput, "sequences do not lie one behind the other from token 0"};
  return checkCount("mask", sequences.mask.size(), begins.back());
}

Status checkCount(const char *what, std::size_t found, std::size_t expected) {
  if (found == expected)
    return {};
  return {StatusCode::InvalidInput,
          fmt::format("{} has {} numbers, expected {}", what, found, expected)};
}

std::uint32_t trainedTokens(const Sequences &sequences, std::size_t sequence) {
  std::uint32_t tokens = 0;
  for (std::uint32_t token = sequences.begins[sequence]; token < sequences.begins[sequence + 1];
       ++token)
    tokens += sequences.mask[token] != 0 ? 1 : 0;
  return tokens;
}

} // namespace vime
