// TextDataset: training samples from a text file of any size; a token is a byte.
//
//   BatchShape shape{.sequence = 128, .samples = 4, .microbatches = 8};
//   auto text = TextDataset::open("corpus.txt", shape, /*seed=*/7);
//   text->fill(step, microbatch, tokens, labels, segments);
//
// The text is cut into windows of sequence + 1 bytes that do not overlap (what is left at the end
// is dropped); a sample is a window, its labels are its bytes one place further on. Each epoch goes
// through all windows in a shuffled order of its own, made from the seed. Sample number (step ·
// microbatches + microbatch) · samples + place decides all, so batches do not depend on who asks
// for them or in which order; the last step of an epoch runs on into the next. The file is mapped,
// never read into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/Base/FileHash.h"
#include "runtime/Base/Status.h"

namespace vime {

/// Tokens are bytes: a model needs at least this vocabulary.
inline constexpr std::uint32_t kByteVocabulary = 256;

struct BatchShape {
  std::uint32_t sequence = 0;     // tokens of a sample
  std::uint32_t samples = 0;      // of a microbatch
  std::uint32_t microbatches = 0; // of a step
};

class TextDataset {
public:
  /// File: not readable. InvalidInput: too short for the samples of one step.
  static StatusOr<TextDataset> open(const std::string &path, BatchShape shape, std::uint64_t seed);
  /// The same, and the text must be the one that the plan was made for (Unacceptable).
  static StatusOr<TextDataset> open(const std::string &path, BatchShape shape, std::uint64_t seed,
                                    const FileFingerprint &expected);

  /// Writes samples · sequence tokens and labels, and samples + 1 offsets. File: the text changed
  /// under our hands.
  Status fill(std::uint64_t step, std::uint32_t microbatch, std::int32_t *tokens,
              std::int32_t *labels, std::int32_t *segments) const;

  /// Windows of an epoch.
  std::uint64_t windows() const { return windowCount; }

private:
  class Mapping;
  TextDataset(std::shared_ptr<const Mapping> mapping, BatchShape shape, std::uint64_t seed);

  std::shared_ptr<const Mapping> mapping;
  BatchShape shape;
  std::uint64_t seed;
  std::uint64_t windowCount;
};

} // namespace vime
