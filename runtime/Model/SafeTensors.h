// SafeTensors: reads and writes the Hugging Face format of that name.
//
//   auto file = SafeTensorsFile::open("model.safetensors");
//   const SafeTensor *head = file->find("lm_head.weight");
//   file->bytesOf(*head)
//
// A file is 8 bytes of header length, a JSON header (name → type, shape, offsets), and the data.
// Nothing in it is believed: every size is checked against the file before it is used. Source:
// https://github.com/huggingface/safetensors, section Format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  std::uint64_t begin = 0,
                end = 0; // bytes from the start of the data; `end` is ignored when writing
};

/// Bytes of an element of a type as the format names it; 0 for a name that it does not have.
std::uint64_t safeTensorElementBytes(std::string_view type);

/// A file mapped for reading.
class SafeTensorsFile {
public:
  /// File: it cannot be read. InvalidInput: it is damaged, with the first fault.
  static StatusOr<SafeTensorsFile> open(const std::string &path);
  /// Null when there is none of that name.
  const SafeTensor *find(std::string_view name) const;
  /// In order of their data.
  std::span<const SafeTensor> tensors() const { return table; }
  std::span<const std::byte> bytesOf(const SafeTensor &tensor) const;

private:
  std::shared_ptr<const std::byte> mapping; // of the whole file
  std::uint64_t dataStart = 0;
  std::vector<SafeTensor> table;
};

/// Data of a tensor to write, complete and contiguous.
struct SafeTensorSource {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;
};

/// Writes the tensors in the given order, straight from their memory. The file appears whole under
/// `path`, or not at all.
Status writeSafeTensors(const std::string &path, std::span<const SafeTensorSource> tensors);

} // namespace vime
