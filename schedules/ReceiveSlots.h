// ReceiveSlots: how many messages each channel has room for at its receiving end.
//
//   const ReceiveSlots usual;             // two: one that a task uses, one that comes meanwhile
//   const ReceiveSlots narrow{{2, 1, 2}}; // one on the channels into rank 1
//
// With one slot a message comes when the task before has let go of its slot. With more than two,
// receives stand earlier among the tasks of their rank: before the task that runs while the message
// is made, and as if a message were on its way for half a unit of time for each slot beyond two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace vime {

inline constexpr int kUsualSlots = 2;
inline constexpr int kMostSlots = 64;

struct ReceiveSlots {
  std::vector<int> byRank{}; // empty: the usual ones; one number: on every rank

  /// On each channel into the rank.
  int into(int rank) const {
    return byRank.empty()       ? kUsualSlots
           : byRank.size() == 1 ? byRank.front()
                                : byRank[static_cast<std::size_t>(rank)];
  }
  /// Halves of a unit of time that messages to the rank are taken to be on their way.
  int leadInto(int rank) const { return std::max(into(rank) - kUsualSlots, 0); }
};

} // namespace vime
