#include "runtime/Model/SafeTensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/Base/AtomicFile.h"

namespace vime {
namespace {

StatusOr<std::shared_ptr<const std::byte>> mapFile(const std::string &path, std::uint64_t &bytes) {
  const auto fail = [&](const char *what) {
    return Status(StatusCode::File, fmt::format("cannot {} `{}`: {}", what, path, strerror(errno)));
  };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail("open");
  struct stat info;
  const bool regular = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  bytes = regular ? std::uint64_t(info.st_size) : 0;
  void *data = MAP_FAILED;
  if (bytes > 0)
    data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  const int error = errno;
  close(file);
  if (!regular)
    return Status(StatusCode::File, fmt::format("`{}` is not a regular file", path));
  if (bytes == 0)
    return Status(StatusCode::InvalidInput, fmt::format("`{}`: it is empty", path));
  errno = error;
  if (data == MAP_FAILED)
    return fail("map");
  const auto unmap = [bytes](const std::byte *start) {
    munmap(const_cast<std::byte *>(start), bytes);
  };
  return std::shared_ptr<const std::byte>(static_cast<const std::byte *>(data), unmap);
}

} // namespace

StatusOr<SafeTensorsFile> SafeTensorsFile::open(const std::string &path) {
  std::uint64_t fileBytes = 0;
  auto mapping = mapFile(path, fileBytes);
  if (!mapping.ok())
    return mapping.status();
  const auto *start = reinterpret_cast<const char *>((*mapping).get());
  const auto length = safeTensorsHeaderLength(path, {start, fileBytes}, fileBytes);
  if (!length.ok())
    return length.status();
  SafeTensorsFile file;
  file.mapping = std::move(*mapping);
  file.dataStart = kSafeTensorsLengthBytes + *length;
  auto header = parseSafeTensorsHeader(path, {start + kSafeTensorsLengthBytes, *length},
                                       fileBytes - file.dataStart);
  if (!header.ok())
    return header.status();
  file.table = std::move(header->tensors);
  return file;
}

const SafeTensor *SafeTensorsFile::find(std::string_view name) const {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const SafeTensor &tensor) { return tensor.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::span<const std::byte> SafeTensorsFile::bytesOf(const SafeTensor &tensor) const {
  return {mapping.get() + dataStart + tensor.begin, tensor.end - tensor.begin};
}

Status writeSafeTensors(const std::string &path, std::span<const SafeTensorSource> tensors,
                        const std::map<std::string, std::string> &metadata) {
  const std::string head = safeTensorsHead(tensors, metadata);
  std::vector<std::span<const std::byte>> pieces{std::as_bytes(std::span(head))};
  for (const SafeTensorSource &tensor : tensors)
    pieces.push_back(tensor.bytes);
  return writeFileAtomically(path, pieces);
}

} // namespace vime
