#include "runtime/Base/FileHash.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

namespace vime {
namespace {

Status fileError(const std::string &path, const char *what) {
  return Status(StatusCode::File, fmt::format("cannot {} `{}`: {}", what, path, strerror(errno)));
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
};

} // namespace

std::array<std::uint64_t, 2> hashBytes(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

StatusOr<FileFingerprint> hashFile(const std::string &path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat info;
  if (file.number < 0 || fstat(file.number, &info) != 0)
    return fileError(path, "open");
  if (!S_ISREG(info.st_mode))
    return Status(StatusCode::File, fmt::format("`{}` is not a regular file", path));

  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t *)> state(XXH3_createState(),
                                                                               XXH3_freeState);
  XXH3_128bits_reset(state.get());
  FileFingerprint result;
  std::vector<char> block(1 << 20);
  for (;;) {
    const ssize_t count = read(file.number, block.data(), block.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fileError(path, "read");
    if (count == 0)
      break;
    XXH3_128bits_update(state.get(), block.data(), std::size_t(count));
    result.bytes += std::uint64_t(count);
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  result.hash = {hash.low64, hash.high64};
  return result;
}

} // namespace vime
