// TextDataset: training samples from a text file of any size; a token is a byte.
//
//   BatchShape shape{.sequence = 128, .samples = 4, .microbatches = 8, .tail = plan::Tail::Join};
//   auto text = TextDataset::open("corpus.txt", shape, /*seed=*/7);
//   text->fill(step, microbatch, tokens, labels, segments);
//
// The text is cut into windows of sequence + 1 bytes that do not overlap (what is left at the end
// is dropped); a sample is a window, its labels are its bytes one place further on. Each epoch goes
// through all windows in a shuffled order of its own, made from the seed. The number of the sample
// decides all, so batches do not depend on who asks for them or in which order. Where the windows
// of an epoch fill no whole number of steps, the last step runs on into the next epoch (Join), has
// fewer samples, so that every window is learnt from once an epoch (Short), or is left out (Drop).
// The file is mapped, never read into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/Base/FileHash.h"
#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Tokens are bytes: a model needs at least this vocabulary.
inline constexpr std::uint32_t kByteVocabulary = 256;

struct BatchShape {
  std::uint32_t sequence = 0;     // tokens of a sample
  std::uint32_t samples = 0;      // of a microbatch
  std::uint32_t microbatches = 0; // of a step
  plan::Tail tail = plan::Tail::Join;
  bool shuffled = true;
};

class TextDataset {
public:
  /// File: not readable. InvalidInput: too short for the samples of one step.
  static StatusOr<TextDataset> open(const std::string &path, BatchShape shape, std::uint64_t seed);
  /// The same, and the text must be the one that the plan was made for (Unacceptable).
  static StatusOr<TextDataset> open(const std::string &path, BatchShape shape, std::uint64_t seed,
                                    const FileFingerprint &expected);

  /// Of a step; and the tokens of one of them, 0 behind the last.
  std::uint32_t microbatchesOf(std::uint64_t step) const;
  std::uint32_t tokensOf(std::uint64_t step, std::uint32_t microbatch) const;
  std::uint64_t samplesOf(std::uint64_t step) const { return batchOf(step).count; }

  /// Writes the tokens and labels of the microbatch, and samples + 1 offsets; samples that it does
  /// not have are empty. File: the text changed under our hands.
  Status fill(std::uint64_t step, std::uint32_t microbatch, std::int32_t *tokens,
              std::int32_t *labels, std::int32_t *segments) const;

  /// Windows of an epoch.
  std::uint64_t windows() const { return windowCount; }

private:
  class Mapping;
  /// The samples of a step, counted through all epochs.
  struct Batch {
    std::uint64_t first = 0, count = 0;
  };
  Batch batchOf(std::uint64_t step) const;
  std::uint32_t samplesOf(const Batch &batch, std::uint32_t microbatch) const;
  TextDataset(std::shared_ptr<const Mapping> mapping, BatchShape shape, std::uint64_t seed);

  std::shared_ptr<const Mapping> mapping;
  BatchShape shape;
  std::uint64_t seed;
  std::uint64_t windowCount;
};

} // namespace vime
