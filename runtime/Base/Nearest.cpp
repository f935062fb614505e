// Nearest: the restricted Damerau-Levenshtein distance and when two words count as near.
#include "runtime/Base/Nearest.h"

#include <algorithm>
#include <vector>

namespace vime {

namespace {

constexpr std::size_t kLongestWord = 64; // longer ones mean nothing we know

/// Small letters and capitals are one, as are the two ways to join words.
char folded(char letter) {
  const bool isCapital = 'A' <= letter && letter <= 'Z';
  return letter == '_' ? '-' : isCapital ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool sameLetters(std::string_view word, std::string_view other) {
  return std::equal(word.begin(), word.end(), other.begin(), other.end(),
                    [](char left, char right) { return folded(left) == folded(right); });
}

// `num_microbatches` holds `microbatches` as its last words.
bool holdsAsWords(std::string_view word, std::string_view part) {
  if (part.size() < 4 || word.size() <= part.size())
    return false;
  const std::size_t rest = word.size() - part.size();
  return (sameLetters(word.substr(rest), part) && folded(word[rest - 1]) == '-') ||
         (sameLetters(word.substr(0, part.size()), part) && folded(word[part.size()]) == '-');
}

} // namespace

std::size_t editDistance(std::string_view word, std::string_view other) {
  const std::size_t columns = other.size() + 1;
  std::vector<std::size_t> beforeLast(columns), last(columns), row(columns);
  for (std::size_t column = 0; column < columns; ++column)
    last[column] = column;
  for (std::size_t line = 1; line <= word.size(); ++line) {
    row[0] = line;
    for (std::size_t column = 1; column < columns; ++column) {
      const bool same = folded(word[line - 1]) == folded(other[column - 1]);
      row[column] =
          std::min({last[column] + 1, row[column - 1] + 1, last[column - 1] + (same ? 0 : 1)});
      const bool swapped = line > 1 && column > 1 &&
                           folded(word[line - 1]) == folded(other[column - 2]) &&
                           folded(word[line - 2]) == folded(other[column - 1]);
      if (swapped)
        row[column] = std::min(row[column], beforeLast[column - 2] + 1);
    }
    beforeLast.swap(last);
    last.swap(row);
  }
  return last[columns - 1];
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kLongestWord)
    return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t allowed = (word.size() + 2) / 3 + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = holdsAsWords(word, candidate) ? 1 : editDistance(word, candidate);
    if (distance < allowed && distance < std::min(candidate.size(), word.size())) {
      allowed = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace vime
