#include "compiler/Verify/Knowledge.h"

namespace vime::verify {

std::uint32_t entryAt(const ActionTable &table, const RankView &rank, std::uint32_t lane,
                      std::uint32_t position) {
  std::uint32_t found = kNone;
  forEachDispatched(rank, [&](std::uint32_t entry) {
    if (table.action(rank, entry).lane == lane && position != 0 && --position == 0)
      found = entry;
  });
  return found;
}

} // namespace vime::verify
