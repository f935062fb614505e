#include "runtime/Data/TextDataset.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "runtime/Data/Permutation.h"

namespace vime {

BatchShape batchShapeOf(const plan::DataSettings &data) {
  return {.sequence = data.sequence,
          .room = {.tokens = data.tokens * data.slices, .samples = data.samples},
          .batch = data.batch,
          .split = data.split,
          .tail = data.tail,
          .slices = data.slices};
}

BatchShape batchShapeOf(const plan::DataSettings &data, const plan::EvaluationSettings &held) {
  BatchShape shape = batchShapeOf(data);
  shape.batch = held.batch;
  shape.tail = plan::Tail::Join;
  shape.shuffled = false;
  return shape;
}

TextDataset::TextDataset(std::shared_ptr<const TextFile> file, BatchShape shape, std::uint64_t seed)
    : file(std::move(file)), shape(shape), seed(seed),
      samples(TextSamples::cut(this->file->bytes(), shape.split, shape.sequence)) {}

StatusOr<TextDataset> TextDataset::open(const std::string &path, BatchShape shape,
                                        std::uint64_t seed) {
  if (shape.sequence == 0 || shape.batch == 0 || shape.room.samples == 0 ||
      shape.room.tokens < shape.sequence)
    return Status(StatusCode::InvalidInput,
                  fmt::format("a step of {} samples of up to {} tokens, {} of them with {} tokens "
                              "in a microbatch",
                              shape.batch, shape.sequence, shape.room.samples, shape.room.tokens));
  auto file = TextFile::open(path);
  if (!file.ok())
    return file.status();
  TextDataset dataset(*file, shape, seed);
  if (dataset.count() < shape.batch)
    return Status(StatusCode::InvalidInput,
                  fmt::format("text `{}` is too short: its {} bytes hold {} samples of {}{} tokens "
                              "and their labels, a step needs {}",
                              path, (*file)->bytes().size(), dataset.count(),
                              shape.split == plan::Split::Window ? "" : "up to ", shape.sequence,
                              shape.batch));
  return dataset;
}

constexpr std::string_view kCompileAgain =
    "help: compile the job again, so that the plan is for the text as it is";

StatusOr<TextDataset> TextDataset::open(const std::string &path, BatchShape shape,
                                        std::uint64_t seed, const FileFingerprint &expected) {
  const StatusOr<FileFingerprint> found = hashFile(path);
  if (!found.ok())
    return found.status();
  if (found->bytes != expected.bytes)
    return Status(StatusCode::Unacceptable,
                  fmt::format("text `{}` has {} bytes, and had {} when the plan was made\n{}", path,
                              found->bytes, expected.bytes, kCompileAgain));
  if (found->hash != expected.hash)
    return Status(StatusCode::Unacceptable,
                  fmt::format("text `{}` has other content than when the plan was made\n{}", path,
                              kCompileAgain));
  return open(path, shape, seed);
}

TextDataset::Batch TextDataset::batchOf(std::uint64_t step) const {
  if (shape.tail == plan::Tail::Join)
    return {step * shape.batch, shape.batch};
  const bool isShort = shape.tail == plan::Tail::Short && count() % shape.batch != 0;
  const std::uint64_t steps = count() / shape.batch + (isShort ? 1 : 0); // of an epoch
  const std::uint64_t first = step % steps * shape.batch;                // in the epoch
  return {step / steps * count() + first, std::min(shape.batch, count() - first)};
}

void TextDataset::begin(std::uint64_t next) {
  if (step == next)
    return;
  step = next;
  choose(batchOf(step));
  tokens = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  packing.pack(lengths, shape.room);
}

void TextDataset::choose(const Batch &batch) {
  chosen.clear();
  lengths.clear();
  for (std::uint64_t left = batch.count, sample = batch.first; left > 0;) {
    const std::uint64_t inEpoch = sample % count(), here = std::min(left, count() - inEpoch);
    const Permutation order(count(), seed, sample / count());
    for (std::uint64_t index = inEpoch; index < inEpoch + here; ++index)
      chosen.push_back(shape.shuffled ? order(index) : index);
    sample += here;
    left -= here;
  }
  for (const std::uint64_t sample : chosen)
    lengths.push_back(samples.at(sample).tokens);
}

std::uint32_t TextDataset::tokensOf(Part part) const {
  return part.microbatch < microbatches() ? packing.tokensOf(part.microbatch) / shape.slices : 0;
}

Status TextDataset::fill(Part part, std::int32_t *tokens, std::int32_t *labels,
                         std::int32_t *segments) const {
  if (Status status = file->unchanged(); !status.ok())
    return status;
  std::int32_t end = 0;
  std::uint32_t place = 0;
  segments[place++] = end;
  if (part.microbatch < microbatches())
    for (const std::uint32_t inStep : packing.samplesOf(part.microbatch)) {
      const TextSample sample = samples.at(chosen[inStep]);
      const std::uint32_t length = sample.tokens / shape.slices;
      const std::byte *bytes = file->bytes().data() + sample.first + part.slice * length;
      for (std::uint32_t token = 0; token < length; ++token) {
        *tokens++ = std::int32_t(bytes[token]);
        *labels++ = std::int32_t(bytes[token + 1]);
      }
      segments[place++] = end += std::int32_t(length);
    }
  while (place <= shape.room.samples)
    segments[place++] = end;
  return Status();
}

} // namespace vime
