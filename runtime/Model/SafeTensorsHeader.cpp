#include "runtime/Model/SafeTensorsHeader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

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

/// Texts by name; anything else there is not ours to judge and is left out.
std::map<std::string, std::string> parseMetadata(const Json &object) {
  std::map<std::string, std::string> metadata;
  if (object.is_object())
    for (const auto &[name, value] : object.items())
      if (value.is_string())
        metadata[name] = value.get<std::string>();
  return metadata;
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

StatusOr<std::uint64_t> safeTensorsHeaderLength(const std::string &path, std::string_view start,
                                                std::uint64_t fileBytes) {
  if (fileBytes < kSafeTensorsLengthBytes || start.size() < kSafeTensorsLengthBytes)
    return damaged(path, fmt::format("{} bytes are too few", fileBytes));
  std::uint64_t length = 0;
  std::memcpy(&length, start.data(), sizeof length);
  if (length > kLongestHeader || length > fileBytes - kSafeTensorsLengthBytes)
    return damaged(path, fmt::format("a header of {} bytes in a file of {}", length, fileBytes));
  return length;
}

StatusOr<SafeTensorsHeader> parseSafeTensorsHeader(const std::string &path, std::string_view text,
                                                   std::uint64_t dataBytes) {
  std::string fault;
  const auto json = parseHeader(text, fault);
  if (!json)
    return damaged(path, fault);
  SafeTensorsHeader header;
  for (const auto &[name, entry] : json->items()) {
    if (name == kMetadata) {
      header.metadata = parseMetadata(entry);
      continue;
    }
    auto tensor = parseEntry(name, entry, fault);
    if (!tensor)
      return damaged(path, fault);
    header.tensors.push_back(std::move(*tensor));
  }
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const SafeTensor &a, const SafeTensor &b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  if (fault = findMisplaced(header.tensors, dataBytes); !fault.empty())
    return damaged(path, fault);
  return header;
}

std::string safeTensorsHead(std::span<const SafeTensorSource> tensors,
                            const std::map<std::string, std::string> &metadata) {
  Json header;
  header[kMetadata] = {{"format", "pt"}}; // transformers refuses files without it
  for (const auto &[name, value] : metadata)
    header[kMetadata][name] = value;
  std::uint64_t at = 0;
  for (const SafeTensorSource &tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.type},
                           {"shape", tensor.shape},
                           {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof length) + text;
}

} // namespace vime
