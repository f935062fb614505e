#include "runtime/Plan/ByteSource.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace vime::plan {
namespace {

Status cannotRead(const std::string &path, const char *why) {
  return Status(StatusCode::File, "cannot read `" + path + "`: " + why);
}

} // namespace

StatusOr<ByteSource> ByteSource::open(const std::string &path) {
  ByteSource source;
  source.path = path;
  // Without O_NONBLOCK a pipe would keep us waiting for its writer.
  source.descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat about;
  if (source.descriptor < 0 || ::fstat(source.descriptor, &about) != 0)
    return cannotRead(path, std::strerror(errno));
  if (!S_ISREG(about.st_mode))
    return cannotRead(path,
                      S_ISDIR(about.st_mode) ? "it is a directory" : "it is not a regular file");
  source.length = static_cast<std::uint64_t>(about.st_size);
  return source;
}

ByteSource::ByteSource(ByteSource &&other) noexcept
    : path(std::move(other.path)), memory(other.memory),
      descriptor(std::exchange(other.descriptor, -1)), length(other.length) {}

ByteSource::~ByteSource() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status ByteSource::read(std::uint64_t offset, void *to, std::size_t count) const {
  if (descriptor < 0) {
    if (count != 0)
      std::memcpy(to, memory.data() + offset, count);
    return Status();
  }
  for (char *next = static_cast<char *>(to); count != 0;) {
    const ssize_t got = ::pread(descriptor, next, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return cannotRead(path, std::strerror(errno));
    if (got == 0)
      return cannotRead(path, "it became shorter while it was read");
    next += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return Status();
}

} // namespace vime::plan
