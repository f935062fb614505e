#include "runtime/Model/SafeTensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/Model/AtomicFile.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000; // as the reference implementation
constexpr const char *kMetadata = "__metadata__";

Status damaged(const std::string &path, std::string what) {
  return Status(StatusCode::InvalidInput, fmt::format("`{}`: {}", path, what));
}

/// Bytes of a tensor, or nothing when they do not fit 64 bits.
std::optional<std::uint64_t> bytesFor(const SafeTensor &tensor) {
  std::uint64_t bytes = safeTensorElementBytes(tensor.type);
  for (std::uint64_t extent : tensor.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  return bytes;
}

/// The header as JSON, without duplicate keys on its first level; `fault` says what is wrong.
std::optional<Json> parseHeader(std::string_view text, std::string &fault) {
  std::set<std::string> names;
  const auto noDuplicates = [&](int depth, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::key && depth == 1 &&
        !names.insert(value.get_ref<const std::string &>()).second && fault.empty())
      fault = fmt::format("two tensors are called `{}`", value.get_ref<const std::string &>());
    return true;
  };
  Json header = Json::parse(text, noDuplicates, /*allow_exceptions=*/false);
  if (fault.empty() && !header.is_object())
    fault = "its header is no JSON object";
  return fault.empty() ? std::optional(std::move(header)) : std::nullopt;
}

std::optional<std::vector<std::uint64_t>> naturals(const Json &list) {
  if (!list.is_array())
    return std::nullopt;
  std::vector<std::uint64_t> numbers;
  for (const Json &number : list) {
    if (!number.is_number_unsigned())
      return std::nullopt;
    numbers.push_back(number.get<std::uint64_t>());
  }
  return numbers;
}

/// One entry of the header; `fault` says what is wrong.
std::optional<SafeTensor> parseEntry(const std::string &name, const Json &entry,
                                     std::string &fault) {
  const auto refuse = [&](const char *what) {
    fault = fmt::format("tensor `{}` has {}", name, what);
    return std::nullopt;
  };
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string())
    return refuse("no dtype");
  SafeTensor tensor{.name = name, .type = entry["dtype"].get<std::string>()};
  if (safeTensorElementBytes(tensor.type) == 0)
    return refuse("an unknown dtype");
  const auto shape = entry.contains("shape") ? naturals(entry["shape"]) : std::nullopt;
  const auto offsets =
      entry.contains("data_offsets") ? naturals(entry["data_offsets"]) : std::nullopt;
  if (!shape)
    return refuse("no shape");
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
    return refuse("no data offsets");
  tensor.shape = *shape;
  tensor.begin = (*offsets)[0];
  tensor.end = (*offsets)[1];
  const auto bytes = bytesFor(tensor);
  if (!bytes || *bytes != tensor.end - tensor.begin)
    return refuse("data offsets that do not fit its shape");
  return tensor;
}

/// Data must be covered without holes or overlaps: then no byte is two tensors' and none is hidden.
std::string findMisplaced(std::span<const SafeTensor> tensors, std::uint64_t dataBytes) {
  std::uint64_t at = 0;
  for (const SafeTensor &tensor : tensors) {
    if (tensor.begin != at)
      return fmt::format("tensor `{}` starts at byte {} of the data, where {} was expected",
                         tensor.name, tensor.begin, at);
    at = tensor.end;
  }
  if (at != dataBytes)
    return fmt::format("its tensors take {} bytes and it holds {}", at, dataBytes);
  return "";
}

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
    return damaged(path, "it is empty");
  errno = error;
  if (data == MAP_FAILED)
    return fail("map");
  const auto unmap = [bytes](const std::byte *start) {
    munmap(const_cast<std::byte *>(start), bytes);
  };
  return std::shared_ptr<const std::byte>(static_cast<const std::byte *>(data), unmap);
}

} // namespace

std::uint64_t safeTensorElementBytes(std::string_view type) {
  constexpr std::pair<std::string_view, std::uint64_t> kTypes[] = {
      {"F32", 4}, {"F64", 8}, {"BF16", 2}, {"F16", 2},     {"I64", 8},
      {"I32", 4}, {"I16", 2}, {"I8", 1},   {"U64", 8},     {"U32", 4},
      {"U16", 2}, {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  for (const auto &[name, bytes] : kTypes)
    if (name == type)
      return bytes;
  return 0;
}

StatusOr<SafeTensorsFile> SafeTensorsFile::open(const std::string &path) {
  std::uint64_t fileBytes = 0;
  auto mapping = mapFile(path, fileBytes);
  if (!mapping.ok())
    return mapping.status();
  SafeTensorsFile file;
  file.mapping = *mapping;

  std::uint64_t headerBytes = 0;
  if (fileBytes < kLengthBytes)
    return damaged(path, fmt::format("{} bytes are too few", fileBytes));
  std::memcpy(&headerBytes, file.mapping.get(), kLengthBytes);
  if (headerBytes > kLongestHeader || headerBytes > fileBytes - kLengthBytes)
    return damaged(path,
                   fmt::format("a header of {} bytes in a file of {}", headerBytes, fileBytes));
  file.dataStart = kLengthBytes + headerBytes;

  const auto *text = reinterpret_cast<const char *>(file.mapping.get()) + kLengthBytes;
  std::string fault;
  const auto header = parseHeader({text, headerBytes}, fault);
  if (!header)
    return damaged(path, fault);
  for (const auto &[name, entry] : header->items()) {
    if (name == kMetadata)
      continue;
    auto tensor = parseEntry(name, entry, fault);
    if (!tensor)
      return damaged(path, fault);
    file.table.push_back(std::move(*tensor));
  }
  std::sort(file.table.begin(), file.table.end(), [](const SafeTensor &a, const SafeTensor &b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  if (fault = findMisplaced(file.table, fileBytes - file.dataStart); !fault.empty())
    return damaged(path, fault);
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

Status writeSafeTensors(const std::string &path, std::span<const SafeTensorSource> tensors) {
  Json header;
  header[kMetadata] = {{"format", "pt"}}; // transformers refuses files without it
  std::uint64_t at = 0;
  for (const SafeTensorSource &tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.type},
                           {"shape", tensor.shape},
                           {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' '); // so that the data is aligned
  const std::uint64_t length = text.size();

  std::vector<std::span<const std::byte>> pieces{std::as_bytes(std::span(&length, 1)),
                                                 std::as_bytes(std::span(text))};
  for (const SafeTensorSource &tensor : tensors)
    pieces.push_back(tensor.bytes);
  return writeFileAtomically(path, pieces);
}

} // namespace vime
