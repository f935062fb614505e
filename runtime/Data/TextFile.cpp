#include "runtime/Data/TextFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace vime {

StatusOr<std::shared_ptr<const TextFile>> TextFile::open(const std::string &path) {
  const auto fail = [&](const char *what, int file) {
    Status status(StatusCode::File,
                  fmt::format("cannot {} text `{}`: {}", what, path, strerror(errno)));
    if (file >= 0)
      close(file);
    return status;
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a FIFO does not block
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0)
    return fail("open", file);
  if (!S_ISREG(info.st_mode)) {
    close(file);
    return Status(StatusCode::File, fmt::format("text `{}` is not a regular file", path));
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  void *data = nullptr;
  if (size > 0) {
    data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED)
      return fail("map", file);
  }
  return std::shared_ptr<const TextFile>(
      new TextFile(path, file, info.st_mtim, {static_cast<const std::byte *>(data), size}));
}

TextFile::~TextFile() {
  if (!data.empty())
    munmap(const_cast<std::byte *>(data.data()), data.size());
  close(file);
}

Status TextFile::unchanged() const {
  struct stat now;
  if (fstat(file, &now) == 0 && static_cast<std::size_t>(now.st_size) == data.size() &&
      now.st_mtim.tv_sec == modified.tv_sec && now.st_mtim.tv_nsec == modified.tv_nsec)
    return Status();
  return Status(StatusCode::File, fmt::format("text `{}` changed while it was read", name));
}

} // namespace vime
