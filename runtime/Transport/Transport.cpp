#include "runtime/Transport/Transport.h"

#include <fmt/format.h>

#include "runtime/Plan/Names.h"

namespace vime {

std::string describe(const End &end, std::uint32_t rank) {
  if (end.kind == plan::LaneKind::Group)
    return fmt::format("group {}", end.name.empty() ? std::to_string(end.group) : end.name);
  const bool sends = end.kind == plan::LaneKind::Send;
  return fmt::format("rank {} → rank {}, {}", sends ? rank : end.peer, sends ? end.peer : rank,
                     plan::nameOf(end.flow));
}

} // namespace vime
