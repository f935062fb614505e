// TextDataset: training samples from a text file of any size; a token is a byte.
//
//   auto text = TextDataset::open("corpus.txt", batchShapeOf(plan.data), /*seed=*/7);
//   text->begin(step);
//   text->fill({microbatch}, tokens, labels, segments);
//
// What a sample is says TextSamples. Each epoch goes through all samples in a shuffled order of its
// own, made from the seed; a step takes so many of them, and packs them into microbatches
// (Packing). The number of the step decides all, so batches do not depend on who asks for them or
// in which order. Where the samples of an epoch fill no whole number of steps, the last step runs
// on into the next epoch (Join), has fewer samples, so that every sample is learnt from once an
// epoch (Short), or is left out (Drop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/Base/FileHash.h"
#include "runtime/Base/Status.h"
#include "runtime/Data/Packing.h"
#include "runtime/Data/TextFile.h"
#include "runtime/Data/TextSamples.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Tokens are bytes: a model needs at least this vocabulary.
inline constexpr std::uint32_t kByteVocabulary = 256;

struct BatchShape {
  std::uint32_t sequence = 0; // tokens of a sample, at most
  Packing::Room room;         // of a microbatch, all its slices together
  std::uint64_t batch = 0;    // samples of a whole step
  plan::Split split = plan::Split::Window;
  plan::Tail tail = plan::Tail::Join;
  bool shuffled = true;
  std::uint32_t slices = 1; // that microbatches are asked for in; divides every sample
};

/// Of all replicas together.
BatchShape batchShapeOf(const plan::DataSettings &data);
/// Of an evaluation: the first samples, in their order.
BatchShape batchShapeOf(const plan::DataSettings &data, const plan::EvaluationSettings &held);

class TextDataset {
public:
  /// File: not readable. InvalidInput: too short for the samples of one step.
  static StatusOr<TextDataset> open(const std::string &path, BatchShape shape, std::uint64_t seed);
  /// The same, and the text must be the one that the plan was made for (Unacceptable).
  static StatusOr<TextDataset> open(const std::string &path, BatchShape shape, std::uint64_t seed,
                                    const FileFingerprint &expected);

  const BatchShape &batchShape() const { return shape; }
  /// Samples of an epoch.
  std::uint64_t count() const { return samples.count(); }
  const TextSamples &cut() const { return samples; }

  /// What is asked from here on is of this step.
  void begin(std::uint64_t step);

  std::uint64_t samplesOfStep() const { return lengths.size(); }
  std::uint64_t tokensOfStep() const { return tokens; }
  std::uint32_t microbatches() const { return packing.microbatches(); }
  /// A microbatch, or of samples in slices one slice of it.
  struct Part {
    std::uint32_t microbatch = 0, slice = 0;
  };
  /// 0 behind the last one.
  std::uint32_t tokensOf(Part part) const;
  TextSample firstSampleOf(std::uint32_t microbatch) const {
    return samples.at(chosen[packing.samplesOf(microbatch).front()]);
  }
  /// Writes the tokens and labels of the part, and room.samples + 1 offsets; samples that it does
  /// not have are empty. File: the text changed under our hands.
  Status fill(Part part, std::int32_t *tokens, std::int32_t *labels, std::int32_t *segments) const;

private:
  /// Samples counted through all epochs.
  struct Batch {
    std::uint64_t first = 0, count = 0;
  };
  Batch batchOf(std::uint64_t step) const;
  void choose(const Batch &batch);
  TextDataset(std::shared_ptr<const TextFile> file, BatchShape shape, std::uint64_t seed);

  std::shared_ptr<const TextFile> file;
  BatchShape shape;
  std::uint64_t seed;
  TextSamples samples;
  // Of the step under way.
  std::uint64_t step = ~std::uint64_t{0}, tokens = 0;
  std::vector<std::uint64_t> chosen; // samples of the text, in the order of the step
  std::vector<std::uint32_t> lengths;
  Packing packing;
};

} // namespace vime
