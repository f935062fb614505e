// SafeTensors: reads and writes the Hugging Face format of that name.
//
//   auto file = SafeTensorsFile::open("model.safetensors");
//   const SafeTensor *head = file->find("lm_head.weight");
//   file->bytesOf(*head)
//
// Nothing in a file is believed: every size is checked against it before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Model/SafeTensorsHeader.h"

namespace vime {

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

/// Writes the tensors in the given order, straight from their memory. The file appears whole under
/// `path`, or not at all.
Status writeSafeTensors(const std::string &path, std::span<const SafeTensorSource> tensors,
                        const std::map<std::string, std::string> &metadata = {});

} // namespace vime
