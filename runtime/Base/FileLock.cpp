#include "runtime/Base/FileLock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace vime {

StatusOr<FileLock> FileLock::take(const std::string &path) {
  const auto fail = [&](const char *what) {
    return Status(StatusCode::File, fmt::format("cannot {} `{}`: {}", what, path, strerror(errno)));
  };
  FileLock lock;
  lock.path = path;
  lock.file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (lock.file < 0)
    return fail("create");
  if (flock(lock.file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return fail("lock");
    lock.release();
  } else if (!lock.isNamed()) { // who held it has finished in between
    lock.release();
  }
  return lock;
}

FileLock::FileLock(FileLock &&other) noexcept
    : path(std::move(other.path)), file(std::exchange(other.file, -1)) {}

FileLock &FileLock::operator=(FileLock &&other) noexcept {
  release();
  path = std::move(other.path);
  file = std::exchange(other.file, -1);
  return *this;
}

bool FileLock::isNamed() const {
  struct stat own, named;
  return file >= 0 && fstat(file, &own) == 0 && lstat(path.c_str(), &named) == 0 &&
         own.st_ino == named.st_ino && own.st_dev == named.st_dev;
}

void FileLock::remove() {
  if (isNamed())
    unlink(path.c_str());
  release();
}

void FileLock::release() {
  if (file >= 0)
    close(std::exchange(file, -1));
}

} // namespace vime
