#include "runtime/Checkpoint/ShardFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "runtime/Base/FileHash.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

constexpr std::size_t kBlock = std::size_t(1) << 20;

Status fileError(const char *what, const std::string &path) {
  return Status(StatusCode::File, fmt::format("cannot {} `{}`: {}", what, path, strerror(errno)));
}

} // namespace

std::string tensorHash(std::span<const std::byte> bytes) { return plan::toHex(hashBytes(bytes)); }

StatusOr<ShardFile> ShardFile::open(const std::string &path) {
  ShardFile shard;
  shard.path = path;
  shard.file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (shard.file < 0 || fstat(shard.file, &info) != 0)
    return fileError("open", path);
  if (!S_ISREG(info.st_mode))
    return Status(StatusCode::File, fmt::format("`{}` is not a regular file", path));
  shard.fileBytes = std::uint64_t(info.st_size);

  const auto unacceptable = [](const Status &status) {
    return status.code() == StatusCode::File ? status
                                             : Status(StatusCode::Unacceptable, status.message());
  };
  std::string head(std::min<std::uint64_t>(shard.fileBytes, kSafeTensorsLengthBytes), '\0');
  if (Status status = shard.readAt(0, std::as_writable_bytes(std::span(head))); !status.ok())
    return status;
  const StatusOr<std::uint64_t> length = safeTensorsHeaderLength(path, head, shard.fileBytes);
  if (!length.ok())
    return unacceptable(length.status());
  head.resize(kSafeTensorsLengthBytes + *length);
  if (Status status = shard.readAt(0, std::as_writable_bytes(std::span(head))); !status.ok())
    return status;
  shard.dataStart = head.size();
  shard.hash = hashBytes(std::as_bytes(std::span(head)));
  StatusOr<SafeTensorsHeader> header =
      parseSafeTensorsHeader(path, std::string_view(head).substr(kSafeTensorsLengthBytes),
                             shard.fileBytes - shard.dataStart);
  if (!header.ok())
    return unacceptable(header.status());
  shard.header = std::move(*header);
  return shard;
}

ShardFile::ShardFile(ShardFile &&other) noexcept
    : path(std::move(other.path)), file(std::exchange(other.file, -1)), fileBytes(other.fileBytes),
      dataStart(other.dataStart), hash(other.hash), header(std::move(other.header)) {}

ShardFile::~ShardFile() {
  if (file >= 0)
    close(file);
}

std::string ShardFile::metadata(const std::string &name) const {
  const auto found = header.metadata.find(name);
  return found == header.metadata.end() ? std::string() : found->second;
}

const SafeTensor *ShardFile::find(std::string_view name) const {
  const auto found =
      std::find_if(header.tensors.begin(), header.tensors.end(),
                   [&](const SafeTensor &tensor) { return tensor.name == name; });
  return found == header.tensors.end() ? nullptr : &*found;
}

Status ShardFile::read(const SafeTensor &tensor, std::span<std::byte> to) const {
  if (to.size() != tensor.end - tensor.begin)
    return damaged(fmt::format("tensor `{}` has {} bytes, {} were expected", tensor.name,
                               tensor.end - tensor.begin, to.size()));
  if (Status status = readAt(dataStart + tensor.begin, to); !status.ok())
    return status;
  return tensorHash(to) == metadata(tensor.name)
             ? Status()
             : damaged(fmt::format("tensor `{}` is damaged", tensor.name));
}

Status ShardFile::verify() const {
  std::vector<std::byte> block(kBlock);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t *)> state(XXH3_createState(),
                                                                               XXH3_freeState);
  for (const SafeTensor &tensor : header.tensors) {
    XXH3_128bits_reset(state.get());
    for (std::uint64_t at = tensor.begin; at < tensor.end; at += kBlock) {
      const auto part = std::span(block).first(std::min<std::uint64_t>(kBlock, tensor.end - at));
      if (Status status = readAt(dataStart + at, part); !status.ok())
        return status;
      XXH3_128bits_update(state.get(), part.data(), part.size());
    }
    const XXH128_hash_t found = XXH3_128bits_digest(state.get());
    if (plan::toHex({found.low64, found.high64}) != metadata(tensor.name))
      return damaged(fmt::format("tensor `{}` is damaged", tensor.name));
  }
  return Status();
}

Status ShardFile::readAt(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t count = pread(file, to.data(), std::min(to.size(), std::size_t(1) << 30),
                                static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fileError("read", path);
    if (count == 0)
      return damaged("it became shorter while it was read");
    offset += std::uint64_t(count);
    to = to.subspan(std::size_t(count));
  }
  return Status();
}

Status ShardFile::damaged(const std::string &what) const {
  return Status(StatusCode::Unacceptable, fmt::format("`{}`: {}", path, what));
}

} // namespace vime
