// Container: how plan.bin holds its parts, whatever they mean; shared by writer and reader.
//
//   preamble | header | part | part | …      each at a multiple of 64 bytes, zeros between them
//
// The preamble fixes the header by its hash, the header fixes every part by its own; no byte of the
// file is free.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <flatbuffers/flatbuffers.h>

#include "runtime/Plan/Plan.h"
#include "runtime/Plan/plan_generated.h"

namespace vime::plan {

static_assert(std::endian::native == std::endian::little, "plan.bin is read in place");

inline constexpr std::uint32_t kContainerVersion = 1; // of the preamble
inline constexpr std::uint32_t kFormatVersion = 1;    // of header and parts
inline constexpr std::uint16_t kFamilyVersion = 1;    // of every opcode family so far
inline constexpr std::size_t kPartAlignment = 64;
inline constexpr std::uint8_t kAllReplicas = 2; // of a round in file::Connect
/// Far more than the directory of a thousand ranks needs.
inline constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 26;

struct Preamble {
  char magic[4];           // VIME
  std::uint32_t container; // kContainerVersion
  std::uint64_t headerOffset;
  std::uint64_t headerLength;
  Hash128 headerHash;
  Hash128 planId;
  std::uint64_t fileLength;
};
static_assert(sizeof(Preamble) == 64);

constexpr std::uint64_t alignPart(std::uint64_t offset) {
  return (offset + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

/// XXH3-128.
Hash128 hashOf(std::string_view bytes);

/// Hash of kinds, indices and hashes of the required parts.
Hash128 planIdOf(const std::vector<file::Part> &directory);

/// Bit `family` is set for each opcode family that an action of `programs` belongs to.
std::uint32_t familiesOf(const std::vector<Program> &programs);

/// `common`, `actions of program 3`.
std::string partName(std::uint32_t kind, std::uint32_t index);

/// Every part of this version but `origins` must be understood to run a plan.
constexpr bool isRequired(file::PartKind kind) { return kind != file::PartKind::Origins; }

/// Bytes of a part, owned by PlanParts or by the plan that they were made from.
struct PartBytes {
  file::PartKind kind;
  std::uint32_t index;
  std::string_view bytes;
};

/// A plan cut into parts, in directory order. Must not outlive the plan.
struct PlanParts {
  std::vector<PartBytes> parts;
  std::deque<flatbuffers::DetachedBuffer> owned;
};

} // namespace vime::plan
