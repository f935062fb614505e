#include "runtime/Data/TextDataset.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/Data/Permutation.h"

namespace vime {

/// The mapped file. It stays open, so that `unchanged` can ask for its size before pages are
/// touched: reading a page that a truncation took away would kill the process.
class TextDataset::Mapping {
public:
  Mapping(std::string path, int file, const struct stat &info, const std::byte *data)
      : path(std::move(path)), bytes(std::uint64_t(info.st_size)), data(data), file(file),
        modified(info.st_mtim) {}
  Mapping(const Mapping &) = delete;
  ~Mapping() {
    if (data)
      munmap(const_cast<std::byte *>(data), bytes);
    close(file);
  }
  static StatusOr<std::shared_ptr<const Mapping>> open(const std::string &path);

  Status unchanged() const {
    struct stat now;
    if (fstat(file, &now) == 0 && std::uint64_t(now.st_size) == bytes &&
        now.st_mtim.tv_sec == modified.tv_sec && now.st_mtim.tv_nsec == modified.tv_nsec)
      return Status();
    return Status(StatusCode::File, fmt::format("text `{}` changed while it was read", path));
  }

  const std::string path;
  const std::uint64_t bytes;
  const std::byte *const data;

private:
  const int file;
  const timespec modified;
};

StatusOr<std::shared_ptr<const TextDataset::Mapping>>
TextDataset::Mapping::open(const std::string &path) {
  const auto fail = [&](const char *what, int file) {
    Status status(StatusCode::File,
                  fmt::format("cannot {} text `{}`: {}", what, path, strerror(errno)));
    if (file >= 0)
      close(file);
    return status;
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0)
    return fail("open", file);
  if (!S_ISREG(info.st_mode)) {
    close(file);
    return Status(StatusCode::File, fmt::format("text `{}` is not a regular file", path));
  }
  void *data = nullptr;
  if (info.st_size > 0) {
    data = mmap(nullptr, std::size_t(info.st_size), PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED)
      return fail("map", file);
  }
  return std::make_shared<const Mapping>(path, file, info, static_cast<const std::byte *>(data));
}

TextDataset::TextDataset(std::shared_ptr<const Mapping> mapping, BatchShape shape,
                         std::uint64_t seed)
    : mapping(std::move(mapping)), shape(shape), seed(seed),
      windowCount(this->mapping->bytes / (std::uint64_t(shape.sequence) + 1)) {}

StatusOr<TextDataset> TextDataset::open(const std::string &path, BatchShape shape,
                                        std::uint64_t seed) {
  if (shape.sequence == 0 || shape.samples == 0 || shape.microbatches == 0)
    return Status(StatusCode::InvalidInput,
                  fmt::format("a step of {} microbatches of {} samples of {} tokens",
                              shape.microbatches, shape.samples, shape.sequence));
  auto mapping = Mapping::open(path);
  if (!mapping.ok())
    return mapping.status();
  TextDataset dataset(*mapping, shape, seed);
  const std::uint64_t needed = std::uint64_t(shape.samples) * shape.microbatches;
  if (dataset.windows() < needed)
    return Status(StatusCode::InvalidInput,
                  fmt::format("text `{}` is too short: its {} bytes hold {} samples of {} tokens "
                              "and their labels, a step needs {}",
                              path, (*mapping)->bytes, dataset.windows(), shape.sequence, needed));
  return dataset;
}

StatusOr<TextDataset> TextDataset::open(const std::string &path, BatchShape shape,
                                        std::uint64_t seed, const FileFingerprint &expected) {
  const StatusOr<FileFingerprint> found = hashFile(path);
  if (!found.ok())
    return found.status();
  if (found->bytes != expected.bytes)
    return Status(StatusCode::Unacceptable,
                  fmt::format("text `{}` has {} bytes, and had {} when the plan was made", path,
                              found->bytes, expected.bytes));
  if (found->hash != expected.hash)
    return Status(StatusCode::Unacceptable,
                  fmt::format("text `{}` has other content than when the plan was made", path));
  return open(path, shape, seed);
}

TextDataset::Batch TextDataset::batchOf(std::uint64_t step) const {
  const std::uint64_t whole = std::uint64_t(shape.samples) * shape.microbatches;
  if (shape.tail == plan::Tail::Join)
    return {step * whole, whole};
  const bool isShort = shape.tail == plan::Tail::Short && windowCount % whole != 0;
  const std::uint64_t steps = windowCount / whole + (isShort ? 1 : 0); // of an epoch
  const std::uint64_t first = step % steps * whole;                    // in the epoch
  return {step / steps * windowCount + first, std::min(whole, windowCount - first)};
}

std::uint32_t TextDataset::samplesOf(const Batch &batch, std::uint32_t microbatch) const {
  const std::uint64_t before = std::uint64_t(microbatch) * shape.samples;
  return before >= batch.count ? 0
                               : static_cast<std::uint32_t>(
                                     std::min<std::uint64_t>(shape.samples, batch.count - before));
}

std::uint32_t TextDataset::microbatchesOf(std::uint64_t step) const {
  return static_cast<std::uint32_t>((batchOf(step).count + shape.samples - 1) / shape.samples);
}

std::uint32_t TextDataset::tokensOf(std::uint64_t step, std::uint32_t microbatch) const {
  return microbatch < shape.microbatches ? samplesOf(batchOf(step), microbatch) * shape.sequence
                                         : 0;
}

Status TextDataset::fill(std::uint64_t step, std::uint32_t microbatch, std::int32_t *tokens,
                         std::int32_t *labels, std::int32_t *segments) const {
  if (Status status = mapping->unchanged(); !status.ok())
    return status;
  const Batch batch = batchOf(step);
  const std::uint64_t first = batch.first + std::uint64_t(microbatch) * shape.samples;
  const std::uint32_t samples = samplesOf(batch, microbatch);
  segments[0] = 0;
  for (std::uint32_t place = 0; place < shape.samples; ++place) {
    segments[place + 1] = segments[place];
    if (place >= samples)
      continue;
    const std::uint64_t sample = first + place, inEpoch = sample % windowCount;
    const Permutation order(windowCount, seed, sample / windowCount);
    const std::byte *window = mapping->data + (shape.shuffled ? order(inEpoch) : inEpoch) *
                                                  (std::uint64_t(shape.sequence) + 1);
    for (std::uint32_t token = 0; token < shape.sequence; ++token) {
      *tokens++ = std::int32_t(window[token]);
      *labels++ = std::int32_t(window[token + 1]);
    }
    segments[place + 1] += std::int32_t(shape.sequence);
  }
  return Status();
}

} // namespace vime
