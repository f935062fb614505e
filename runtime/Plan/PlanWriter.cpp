// Plans to bytes: the parts, the header that fixes them, the preamble that fixes the header; into
// memory or a file.
#include "runtime/Plan/PlanFile.h"

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/Base/AtomicFile.h"
#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/EncodeParts.h"

namespace vime::plan {
namespace {

/// A file that is not laid out in memory as a whole: pieces in order, each behind the zeros that
/// align it.
struct Image {
  PlanParts parts;
  std::string head; // preamble and header
  Hash128 id{};
  std::uint64_t length = 0;

  std::vector<std::span<const std::byte>> pieces() const {
    static constexpr std::byte kZeros[kPartAlignment] = {};
    std::vector<std::span<const std::byte>> all;
    const auto add = [&](std::string_view bytes) {
      all.push_back(std::as_bytes(std::span(bytes)));
      all.push_back({kZeros, alignPart(bytes.size()) - bytes.size()});
    };
    add(head);
    for (const PartBytes &part : parts.parts)
      add(part.bytes);
    return all;
  }
};

std::vector<flatbuffers::Offset<file::Family>>
encodeFamilies(flatbuffers::FlatBufferBuilder &builder, std::uint32_t families) {
  std::vector<flatbuffers::Offset<file::Family>> tables;
  for (int family = static_cast<int>(Family::Compute); family <= static_cast<int>(Family::Rollout);
       ++family)
    if (families >> family & 1) {
      const auto name = builder.CreateString(nameOf(static_cast<Family>(family)));
      tables.push_back(
          file::CreateFamily(builder, name, static_cast<std::uint8_t>(family), kFamilyVersion));
    }
  return tables;
}

flatbuffers::DetachedBuffer encodeHeader(const Plan &plan,
                                         const std::vector<file::Part> &directory) {
  flatbuffers::FlatBufferBuilder builder(1024 + directory.size() * sizeof(file::Part));
  const Hash128 jobHash = hashOf(plan.job);
  const file::Hash job(jobHash[0], jobHash[1]);
  const auto compiler = builder.CreateString(plan.compiler);
  const auto families = builder.CreateVector(encodeFamilies(builder, familiesOf(plan.programs)));
  const auto parts = builder.CreateVectorOfStructs(directory);
  file::FinishHeaderBuffer(
      builder, file::CreateHeader(builder, kFormatVersion, compiler, &job, families, parts));
  return builder.Release();
}

/// Offsets follow the header, whose length does not depend on them.
std::vector<file::Part> directoryOf(const PlanParts &parts, const std::vector<Hash128> &hashes,
                                    std::uint64_t begin) {
  std::vector<file::Part> directory;
  directory.reserve(parts.parts.size());
  for (std::size_t part = 0; part < parts.parts.size(); ++part) {
    const auto &[kind, index, bytes] = parts.parts[part];
    const file::Hash hash(hashes[part][0], hashes[part][1]);
    directory.emplace_back(static_cast<std::uint32_t>(kind), index, begin, bytes.size(), hash,
                           isRequired(kind), 0);
    begin = alignPart(begin + bytes.size());
  }
  return directory;
}

Image makeImage(const Plan &plan) {
  Image image{.parts = encodeParts(plan)};
  std::vector<Hash128> hashes;
  for (const PartBytes &part : image.parts.parts)
    hashes.push_back(hashOf(part.bytes));
  const std::uint64_t headerLength = encodeHeader(plan, directoryOf(image.parts, hashes, 0)).size();
  const std::uint64_t begin = sizeof(Preamble) + alignPart(headerLength);
  const std::vector<file::Part> directory = directoryOf(image.parts, hashes, begin);
  const flatbuffers::DetachedBuffer header = encodeHeader(plan, directory);
  const std::string_view headerBytes(reinterpret_cast<const char *>(header.data()), header.size());

  image.id = planIdOf(directory);
  image.length = begin;
  for (const PartBytes &part : image.parts.parts)
    image.length += alignPart(part.bytes.size());
  const Preamble preamble{{'V', 'I', 'M', 'E'}, kContainerVersion, sizeof(Preamble), header.size(),
                          hashOf(headerBytes),  image.id,          image.length};
  image.head.assign(reinterpret_cast<const char *>(&preamble), sizeof preamble);
  image.head += headerBytes;
  return image;
}

} // namespace

std::string serializePlan(const Plan &plan) {
  const Image image = makeImage(plan);
  std::string bytes;
  bytes.reserve(image.length);
  for (const std::span<const std::byte> piece : image.pieces())
    bytes.append(reinterpret_cast<const char *>(piece.data()), piece.size());
  return bytes;
}

Status writePlan(const Plan &plan, const std::string &path) {
  if (Status status = checkPlan(plan); !status.ok())
    return Status(StatusCode::Internal, "internal error: " + status.message());
  const Image image = makeImage(plan);
  return writeFileAtomically(path, image.pieces());
}

Hash128 planId(const Plan &plan) { return makeImage(plan).id; }

} // namespace vime::plan
