// Vee slots: when the passes of a rank with two stages run, down the ranks and back up again, for
// orders that are made by repeating one microbatch's passes.
//
//   VeeBlock block{{{0, 3, 4, 7}, {1, 2, 5, 6}}}; // two ranks: down at 0, 1, up at 2, 3, ...
//   std::vector<VeeRow> rows = repeated(block, /*microbatches=*/4);
//   rows[0].slots[kDown] // 0 6 12 18
//
// A slot is one pass long, and a rank has six passes per microbatch: after as many slots the next
// microbatch follows. Weight gradients take the slots that are left.
#pragma once

#include "schedules/Schedule.h"

#include <array>
#include <vector>

namespace vime {

/// The passes of a rank that somebody waits for, in the sequence in which a microbatch takes them.
enum VeePass : std::uint8_t { kDown, kUp, kBackUp, kBackDown };
inline constexpr int kVeePasses = 4;
inline constexpr int kVeePeriod = 6; // those and two weight gradients

constexpr bool isForward(VeePass pass) { return pass <= kUp; }
constexpr bool goesDownTheRanks(VeePass pass) { return pass == kDown || pass == kBackUp; }

/// Per rank, the slots of the first microbatch's passes.
using VeeBlock = std::vector<std::array<int, kVeePasses>>;

/// One rank: the slot of every microbatch, ascending, of each pass.
struct VeeRow {
  std::array<std::vector<int>, kVeePasses> slots;
  int end() const; // one past the last slot
};

std::vector<VeeRow> repeated(const VeeBlock &block, int microbatches);

/// The rows as an order on `veePlacement`. A free slot takes a weight gradient that is owed, one of
/// the upper stage first.
Schedule orderOf(const std::vector<VeeRow> &rows);

} // namespace vime
