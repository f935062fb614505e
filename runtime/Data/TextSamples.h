// TextSamples: where the samples of a text lie.
//
//   TextSamples samples = TextSamples::cut(file->bytes(), plan::Split::Line, /*sequence=*/128);
//   samples.at(7)   // {first byte, tokens}
//
// A token is a byte, its label the next byte of the sample; so what has n bytes has n - 1 tokens,
// and what has fewer than two is no sample.
//
// Window: sequence + 1 bytes, that do not overlap; what is left at the end is no sample.
// Line: a line and what ends it. Paragraph: the lines between two empty ones, that is, lines that
// have nothing but their end. One with more than `sequence` tokens is several samples, each but the
// last of `sequence` tokens, and each beginning with the byte that is the last label of the one
// before it: every byte behind the first is a label once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime {

struct TextSample {
  std::uint64_t first;  // byte of the text
  std::uint32_t tokens; // 1 at least
};

class TextSamples {
public:
  static TextSamples cut(std::span<const std::byte> text, plan::Split split,
                         std::uint32_t sequence);

  std::uint64_t count() const { return total; }
  TextSample at(std::uint64_t sample) const {
    if (tokens.empty())
      return {sample * (std::uint64_t(sequence) + 1), sequence};
    return {first[sample], tokens[sample]};
  }
  /// Bytes that are in no sample.
  std::uint64_t leftOut() const { return unused; }

private:
  explicit TextSamples(std::uint32_t sequence) : sequence(sequence) {}
  /// What has no label is left out.
  void add(std::uint64_t begin, std::uint64_t end);

  std::uint32_t sequence;
  std::uint64_t total = 0, unused = 0;
  // Of each sample; empty where all are alike. Twelve bytes a sample, on the ranks that load.
  std::vector<std::uint64_t> first;
  std::vector<std::uint32_t> tokens;
};

} // namespace vime
