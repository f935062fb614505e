// ForgedFile: a plan file with any parts and any header, its hashes right; what an attacker, or a
// later version, writes.
#pragma once

#include <string>
#include <vector>

#include "runtime/Plan/Container.h"

namespace vime {

struct ForgedPart {
  std::uint32_t kind, index;
  std::string bytes;
  std::uint32_t required = 1;
};

struct ForgedFamily {
  std::string name;
  std::uint8_t code;
  std::uint16_t version = 1;
};

struct ForgedFile {
  std::uint32_t format = 1;
  std::vector<ForgedFamily> families;
  std::vector<ForgedPart> parts;

  /// The file of this plan, well or ill.
  static ForgedFile of(const plan::Plan &plan);
  ForgedPart &part(plan::file::PartKind kind, std::uint32_t index = 0);
  std::string bytes() const;
};

} // namespace vime
