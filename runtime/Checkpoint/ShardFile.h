// ShardFile: one safetensors file of a checkpoint, read piece by piece and checked before it is
// believed.
//
// Read with `pread`, not mapped: a file that shrinks meanwhile is an error and no SIGBUS, and what
// was checked is what is used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/Base/Status.h"
#include "runtime/Model/SafeTensorsHeader.h"

namespace vime {

class ShardFile {
public:
  /// File: cannot be read. Unacceptable: it is damaged.
  static StatusOr<ShardFile> open(const std::string &path);
  ~ShardFile();
  ShardFile(ShardFile &&other) noexcept;
  ShardFile &operator=(ShardFile &&) = delete;

  std::uint64_t bytes() const { return fileBytes; }
  const std::array<std::uint64_t, 2> &headerHash() const { return hash; }
  /// Under its metadata; empty: none.
  std::string metadata(const std::string &name) const;
  const SafeTensor *find(std::string_view name) const;

  /// Fills `to`, which is as long as the tensor, and compares it with the hash in the header.
  Status read(const SafeTensor &tensor, std::span<std::byte> to) const;
  /// Every tensor against its hash, without keeping it.
  Status verify() const;

private:
  ShardFile() = default;
  Status readAt(std::uint64_t offset, std::span<std::byte> to) const;
  Status damaged(const std::string &what) const;

  std::string path;
  int file = -1;
  std::uint64_t fileBytes = 0, dataStart = 0;
  std::array<std::uint64_t, 2> hash{};
  SafeTensorsHeader header;
};

/// What the header says of a tensor's bytes.
std::string tensorHash(std::span<const std::byte> bytes);

} // namespace vime
