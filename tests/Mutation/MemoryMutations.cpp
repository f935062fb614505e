// Memory: rings, sizes, offsets.
#include <algorithm>
#include <array>

#include "tests/Mutation/PlanMutations.h"

namespace vime {
namespace {

using namespace plan;

bool shortenRing(Mutant &mutant) {
  Buffer &buffer = mutant.anyBuffer();
  if (buffer.count < 2)
    return false;
  --buffer.count;
  return true;
}

bool lengthenRing(Mutant &mutant) {
  Buffer &buffer = mutant.anyBuffer();
  ++buffer.count;
  // Behind everything else, so that it fits.
  std::uint64_t &arena = mutant.layout.arena[static_cast<std::size_t>(buffer.tier)];
  buffer.offset = arena;
  arena += buffer.stride * buffer.count;
  return true;
}

bool shareBytes(Mutant &mutant) {
  Buffer &buffer = mutant.anyBuffer();
  const Buffer &other = mutant.anyBuffer();
  if (&buffer == &other)
    return false;
  buffer.offset = other.offset;
  return true;
}

bool resizeBuffer(Mutant &mutant) {
  Buffer &buffer = mutant.anyBuffer();
  buffer.bytes =
      mutant.coin() ? buffer.bytes + 8 : buffer.bytes - std::min<std::uint64_t>(buffer.bytes, 8);
  return true;
}

constexpr std::array kMutations = {
    PlanMutation{"shorten a ring", shortenRing},
    PlanMutation{"lengthen a ring", lengthenRing},
    PlanMutation{"share bytes", shareBytes},
    PlanMutation{"resize a buffer", resizeBuffer},
};

} // namespace

std::span<const PlanMutation> memoryMutations() { return kMutations; }

} // namespace vime
