#include "runtime/Base/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace vime {
namespace {

using Pieces = std::span<const std::span<const std::byte>>;

constexpr std::string_view kUnfinished = ".partial";

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

bool writeAll(int file, Pieces pieces) {
  return std::all_of(pieces.begin(), pieces.end(),
                     [file](std::span<const std::byte> piece) { return writeAll(file, piece); });
}

/// A new file beside the one to be replaced; removed unless it took that one's place.
class Replacement {
public:
  explicit Replacement(const std::string &target) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      path = fmt::format("{}.{}-{}{}", target, getpid(), attempt, kUnfinished);
      file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      made = file >= 0;
      if (made || errno != EEXIST)
        return;
    }
  }
  ~Replacement() {
    if (file >= 0)
      close(file);
    if (made && !named)
      unlink(path.c_str());
  }
  Replacement(const Replacement &) = delete;

  bool write(Pieces pieces) {
    if (!made || !writeAll(file, pieces) || fsync(file) != 0)
      return false;
    const int done = std::exchange(file, -1);
    return close(done) == 0; // some file systems tell only now
  }
  bool take(const std::string &target) {
    named = rename(path.c_str(), target.c_str()) == 0;
    return named;
  }

private:
  std::string path;
  int file = -1;
  bool made = false, named = false;
};

Status writeInPlace(const std::string &path, Pieces pieces) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return fileError("write", path);
  Status status = writeAll(file, pieces) ? Status() : fileError("write", path);
  close(file);
  return status;
}

/// What a symbolic link stands for.
std::string resolved(const std::string &path) {
  char *const target = realpath(path.c_str(), nullptr);
  const std::string result = target ? target : path;
  std::free(target);
  return result;
}

bool isNumberPair(std::string_view text) { // of a process and an attempt
  const std::size_t dash = text.find('-');
  return dash != text.npos && dash > 0 && dash + 1 < text.size() &&
         text.find_first_not_of("0123456789", dash + 1) == text.npos &&
         text.substr(0, dash).find_first_not_of("0123456789") == text.npos;
}

} // namespace

Status writeFileAtomically(const std::string &path, Pieces pieces) {
  struct stat existing;
  if (stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode) &&
      !S_ISDIR(existing.st_mode))
    return writeInPlace(path, pieces);
  const std::string target = resolved(path);
  Replacement file(target);
  return file.write(pieces) && file.take(target) ? Status() : fileError("write", path);
}

Status writeFileAtomically(const std::string &path, std::string_view text) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(text));
  return writeFileAtomically(path, {&piece, 1});
}

std::string_view finalNameOf(std::string_view name) {
  if (!name.ends_with(kUnfinished))
    return name;
  name.remove_suffix(kUnfinished.size());
  const std::size_t dot = name.rfind('.');
  return dot != name.npos && isNumberPair(name.substr(dot + 1)) ? name.substr(0, dot) : name;
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
