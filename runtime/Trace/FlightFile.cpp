#include "runtime/Trace/FlightFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vime::flight {
namespace {

Status cannot(const char *what, const std::string &path, int error) {
  return Status(StatusCode::File, fmt::format("cannot {} the flight record `{}`: {}", what, path,
                                              std::strerror(error)));
}

} // namespace

std::string fileNameOf(std::uint32_t rank) { return fmt::format("rank-{}.flight", rank); }

StatusOr<FlightFile> FlightFile::create(const std::string &path) {
  const std::string temporary = path + ".new";
  const int file = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0)
    return cannot("make", path, errno);
  // All blocks now: a write into a mapped hole of a full disk would be SIGBUS.
  const int full = posix_fallocate(file, 0, kFileBytes);
  if (full != 0 || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = full != 0 ? full : errno;
    close(file);
    unlink(temporary.c_str());
    return cannot("make", path, error);
  }
  StatusOr<FlightFile> made = map(file, path);
  if (made.ok())
    new (made->mapping) Header{.headerBytes = kHeaderBytes};
  return made;
}

StatusOr<FlightFile> FlightFile::open(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return cannot("open", path, errno);
  struct stat info;
  if (fstat(file, &info) != 0 || info.st_size != static_cast<off_t>(kFileBytes)) {
    close(file);
    return Status(StatusCode::File, fmt::format("`{}` is no flight record of this version", path));
  }
  return map(file, path);
}

StatusOr<FlightFile> FlightFile::map(int file, const std::string &path) {
  FlightFile result;
  void *mapping =
      mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  const int error = errno;
  close(file);
  if (mapping == MAP_FAILED)
    return cannot("map", path, error);
  result.mapping = mapping;
  return result;
}

FlightFile FlightFile::inMemory() {
  FlightFile result;
  void *mapping = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapping == MAP_FAILED)
    throw std::bad_alloc();
  result.mapping = new (mapping) Header{.headerBytes = kHeaderBytes};
  return result;
}

FlightFile::FlightFile(FlightFile &&other) noexcept { *this = std::move(other); }

FlightFile &FlightFile::operator=(FlightFile &&other) noexcept {
  std::swap(mapping, other.mapping);
  return *this;
}

FlightFile::~FlightFile() {
  if (mapping)
    munmap(mapping, kFileBytes);
}

} // namespace vime::flight
