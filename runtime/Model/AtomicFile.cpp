#include "runtime/Model/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace vime {
namespace {

Status fileError(const char *what, const std::string &path) {
  return Status(StatusCode::File, fmt::format("cannot {} `{}`: {}", what, path, strerror(errno)));
}

bool writeAll(int file, std::span<const std::byte> bytes) {
  constexpr std::size_t kMost = std::size_t(1) << 30; // one call writes less than 2 GiB
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), std::min(bytes.size(), kMost));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    bytes = bytes.subspan(std::size_t(written));
  }
  return true;
}

} // namespace

Status writeFileAtomically(const std::string &path,
                           std::span<const std::span<const std::byte>> pieces) {
  const std::string partial = path + ".partial";
  const int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return fileError("create", partial);
  bool whole = true;
  for (std::span<const std::byte> piece : pieces)
    whole = whole && writeAll(file, piece);
  whole = whole && fsync(file) == 0;
  Status status = whole ? Status() : fileError("write", partial);
  if (close(file) != 0 && status.ok())
    status = fileError("write", partial);
  if (status.ok() && rename(partial.c_str(), path.c_str()) != 0)
    status = fileError("rename to", path);
  if (!status.ok())
    unlink(partial.c_str());
  return status;
}

Status syncDirectory(const std::string &path) {
  const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return fileError("open", path);
  // Some file systems cannot; then their renames are as durable as they get.
  const bool failed = fsync(directory) != 0 && errno != EINVAL && errno != ENOTSUP;
  Status status = failed ? fileError("sync", path) : Status();
  close(directory);
  return status;
}

} // namespace vime
