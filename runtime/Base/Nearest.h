// Nearest: what a misspelt word most likely meant.
//
//   nearest("microbatchs", {"steps", "microbatches"})  // "microbatches"
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace vime {

/// Fewest insertions, deletions, replacements and swaps of neighbours that make one word the other;
/// `-` and `_` are one letter, and so are small letters and capitals.
std::size_t editDistance(std::string_view word, std::string_view other);

/// The candidate with the smallest distance, the first of several; nothing if even that one is a
/// different word. A candidate that the word ends or begins with (`num_microbatches`) is near.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

} // namespace vime
