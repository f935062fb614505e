// PartReader: a plan file's header and directory, and the parts whose hashes are right.
//
//   PartReader reader(std::move(source));
//   if (Status status = reader.open(); !status.ok())
//     return status;
//   StatusOr<std::string_view> bytes = reader.read(file::PartKind::Layout, 3);
//
// Reads nothing that it is not asked for but the zeros behind each part.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/Plan/ByteSource.h"
#include "runtime/Plan/Container.h"

namespace vime::plan {

class PartReader {
public:
  explicit PartReader(ByteSource source) : source(std::move(source)) {}

  Status open();
  const Hash128 &id() const { return preamble.planId; }
  std::string compiler() const { return header->compiler()->str(); }

  /// An array of whole elements.
  template <typename T>
  Status read(file::PartKind kind, std::uint32_t index, std::vector<T> &values) const {
    const file::Part *part = find(kind, index);
    if (!part || part->length() % sizeof(T) != 0)
      return missing(kind, index, part);
    values.resize(part->length() / sizeof(T));
    return readInto(*part, values.data());
  }
  /// Into aligned memory that the next call reuses.
  StatusOr<std::string_view> read(file::PartKind kind, std::uint32_t index = 0);
  bool has(file::PartKind kind) const { return find(kind, 0) != nullptr; }

  /// The hashes of parts that this version does not know and may skip.
  Status checkUnknownParts() const;
  /// As many parts of each kind as there are programs and layouts.
  Status checkCounts(const Plan &plan) const;
  /// Bit per opcode family in the header's list.
  std::uint32_t families() const;

private:
  Status missing(file::PartKind kind, std::uint32_t index, const file::Part *found) const;
  Status readInto(const file::Part &part, void *to) const;
  Status checkPreamble() const;
  Status checkFamilies() const;
  Status checkDirectory() const;
  Status checkPart(const file::Part &part, std::uint64_t expectedOffset) const;
  Status checkZeros(std::uint64_t begin) const;
  const file::Part *find(file::PartKind kind, std::uint32_t index) const;
  std::uint32_t countOf(file::PartKind kind) const;

  ByteSource source;
  Preamble preamble{};
  std::vector<char> headerBytes, scratch;
  const file::Header *header = nullptr;
};

} // namespace vime::plan
