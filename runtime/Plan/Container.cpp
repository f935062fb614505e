#include "runtime/Plan/Container.h"

#include <xxhash.h>

namespace vime::plan {

Hash128 hashOf(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

Hash128 planIdOf(const std::vector<file::Part> &directory) {
  struct Record {
    std::uint32_t kind, index;
    std::uint64_t low, high;
  };
  static_assert(sizeof(Record) == 24, "hashed as bytes: no padding");
  std::vector<Record> records;
  records.reserve(directory.size());
  for (const file::Part &part : directory)
    if (part.required())
      records.push_back({part.kind(), part.index(), part.hash().low(), part.hash().high()});
  return hashOf({reinterpret_cast<const char *>(records.data()), records.size() * sizeof(Record)});
}

std::uint32_t familiesOf(const std::vector<Program> &programs) {
  std::uint32_t families = 0;
  for (const Program &program : programs)
    for (const Action &action : program.actions)
      families |= 1u << (action.opcode >> 8 & 31);
  return families;
}

std::string partName(std::uint32_t kind, std::uint32_t index) {
  const std::string of = std::to_string(index);
  switch (static_cast<file::PartKind>(kind)) {
  case file::PartKind::Job:
    return "job";
  case file::PartKind::Common:
    return "common";
  case file::PartKind::Program:
    return "program " + of;
  case file::PartKind::Actions:
    return "actions of program " + of;
  case file::PartKind::Operands:
    return "operands of program " + of;
  case file::PartKind::Layout:
    return "layout " + of;
  case file::PartKind::Tensors:
    return "tensors";
  case file::PartKind::Connect:
    return "connect";
  case file::PartKind::Predictions:
    return "predictions";
  case file::PartKind::Origins:
    return "origins";
  }
  return "kind " + std::to_string(kind);
}

std::string toHex(const Hash128 &hash) {
  std::string text;
  for (const std::uint64_t half : {hash[1], hash[0]})
    for (int shift = 60; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[half >> shift & 15];
  return text;
}

} // namespace vime::plan
