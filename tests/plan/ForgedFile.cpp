#include "tests/plan/ForgedFile.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/Plan/EncodeParts.h"

namespace vime {

using namespace plan;

ForgedFile ForgedFile::of(const Plan &plan) {
  ForgedFile file;
  const PlanParts cut = encodeParts(plan);
  for (const PartBytes &part : cut.parts)
    file.parts.push_back({static_cast<std::uint32_t>(part.kind), part.index,
                          std::string(part.bytes), isRequired(part.kind)});
  for (std::uint8_t family = 1; family <= static_cast<std::uint8_t>(Family::Control); ++family)
    if (familiesOf(plan.programs) >> family & 1)
      file.families.push_back({std::string(nameOf(static_cast<Family>(family))), family});
  return file;
}

ForgedPart &ForgedFile::part(file::PartKind kind, std::uint32_t index) {
  const auto found = std::find_if(parts.begin(), parts.end(), [=](const ForgedPart &part) {
    return part.kind == static_cast<std::uint32_t>(kind) && part.index == index;
  });
  if (found == parts.end())
    std::abort();
  return *found;
}

std::string ForgedFile::bytes() const {
  const auto header = [&](std::uint64_t offset, std::vector<file::Part> &directory) {
    flatbuffers::FlatBufferBuilder builder;
    file::Hash job;
    directory.clear();
    for (const ForgedPart &part : parts) {
      const Hash128 hash = hashOf(part.bytes);
      directory.emplace_back(part.kind, part.index, offset, part.bytes.size(),
                             file::Hash(hash[0], hash[1]), part.required, 0);
      offset = alignPart(offset + part.bytes.size());
      if (part.kind == static_cast<std::uint32_t>(file::PartKind::Job))
        job = directory.back().hash();
    }
    std::vector<flatbuffers::Offset<file::Family>> tables;
    for (const auto &[name, code, version] : families) {
      const auto text = builder.CreateString(name);
      tables.push_back(file::CreateFamily(builder, text, code, version));
    }
    const auto compiler = builder.CreateString("forged");
    const auto familyVector = builder.CreateVector(tables);
    const auto partVector = builder.CreateVectorOfStructs(directory);
    file::FinishHeaderBuffer(
        builder, file::CreateHeader(builder, format, compiler, &job, familyVector, partVector));
    return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()),
                       builder.GetSize());
  };
  const auto pad = [](std::string &text) { text.resize(alignPart(text.size()), '\0'); };
  std::vector<file::Part> directory;
  const std::uint64_t length = header(0, directory).size();
  const std::string table = header(sizeof(Preamble) + alignPart(length), directory);
  std::string body = table;
  pad(body);
  for (const ForgedPart &part : parts) {
    body += part.bytes;
    pad(body);
  }
  const Preamble preamble{{'V', 'I', 'M', 'E'},
                          kContainerVersion,
                          sizeof(Preamble),
                          table.size(),
                          hashOf(table),
                          planIdOf(directory),
                          sizeof(Preamble) + body.size()};
  return std::string(reinterpret_cast<const char *>(&preamble), sizeof preamble) + body;
}

} // namespace vime
