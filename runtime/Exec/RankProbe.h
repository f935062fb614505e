// RankProbe: what a test puts between a rank and its memory.
//
//   RankProbe probe{.reserved = [&](std::uint32_t rank, const ArenaBases &bases) { … }};
//   runLocal(plan, id, {.base = folder, .probe = &probe}, observer);
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/Exec/Resolve.h"
#include "runtime/Exec/RoutineTable.h"

namespace vime {

struct RankProbe {
  /// What actions do; absent: train the model.
  const RoutineTable *routines = nullptr;
  /// A rank's arenas are there, from the start of a page each, and nobody has used them yet. From
  /// the rank's own thread.
  std::function<void(std::uint32_t rank, const ArenaBases &bases)> reserved;
};

} // namespace vime
