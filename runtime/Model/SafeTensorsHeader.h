// SafeTensorsHeader: the part of a safetensors file that says what lies in the rest of it.
//
// A file is 8 bytes of header length, a JSON header (name → type, shape, offsets; texts under
// `__metadata__`), and the data. Source: https://github.com/huggingface/safetensors, section
// Format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/Base/Status.h"

namespace vime {

struct SafeTensor {
  std::string name;
  std::string type; // as in the file: `F32`, `BF16`, ...
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0; // bytes from the start of the data
};

/// Bytes of an element of a type as the format names it; 0 for a name that it does not have.
std::uint64_t safeTensorElementBytes(std::string_view type);

struct SafeTensorsHeader {
  std::vector<SafeTensor> tensors; // in order of their data
  std::map<std::string, std::string> metadata;
};

inline constexpr std::uint64_t kSafeTensorsLengthBytes = 8;

/// The length of the header of a file of `fileBytes` bytes, whose first bytes are `start`; path:
/// for messages. InvalidInput: it cannot be one.
StatusOr<std::uint64_t> safeTensorsHeaderLength(const std::string &path, std::string_view start,
                                                std::uint64_t fileBytes);

/// Believes nothing: every tensor lies inside the data, no byte of it is two tensors' or none's.
/// InvalidInput, with the first fault.
StatusOr<SafeTensorsHeader> parseSafeTensorsHeader(const std::string &path, std::string_view text,
                                                   std::uint64_t dataBytes);

/// Data of a tensor to write, complete and contiguous.
struct SafeTensorSource {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;
};

/// Length and header of a file with these tensors one behind the other, padded so that the data is
/// aligned.
std::string safeTensorsHead(std::span<const SafeTensorSource> tensors,
                            const std::map<std::string, std::string> &metadata);

} // namespace vime
