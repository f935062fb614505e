// Meetings: where the ends of a transfer, or the members of a group, meet: who waits for whom, what
// a link carries when, and how long a collective takes.
//
//   Meetings meetings(table, durations, queues, times);
//   for (const EndOnLane &ended : meetings.come(lane, now)) // the last entry of the lane has come
//     …                                                     // maybe both ends go on now
//
// A transfer begins when both ends have come and the link is free, a collective when all members
// have; a broadcast for each member when it and the root have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/Analysis/Durations.h"
#include "compiler/Analysis/Queues.h"
#include "compiler/Analysis/Simulate.h"
#include "compiler/Verify/ActionTable.h"

namespace vime {

/// Nanoseconds that a link is busy with so many bytes.
std::int64_t wireTime(const LinkTimes &link, std::uint64_t bytes);

/// Bytes of one message in a step whose microbatches are full.
std::uint64_t bytesOf(const plan::Plan &plan, const plan::Message &message);

class Meetings {
public:
  /// Queues of all lanes of the table; `times` of its entries. Both outlive the meetings.
  Meetings(const verify::ActionTable &table, const Durations &durations,
           const std::vector<LaneQueue> &queues, std::vector<ActionTimes> &times);

  /// The newest entry of the lane has come. What ends now, or will: valid until the next call.
  std::span<const EndOnLane> come(std::uint32_t lane, std::int64_t now);

private:
  /// The k-th calls of all its lanes meet.
  struct Meeting {
    std::vector<std::uint32_t> lanes; // of the table, one of each party
    std::size_t link = 0;             // of a transfer
    LinkTimes times;                  // of it, or of the slowest one between members
    std::int64_t carried = 0;         // on the wire, nanoseconds of a message
    std::int64_t latency = 0;
    std::size_t done = 0;               // calls that all have come to
    std::uint32_t root = verify::kNone; // of a broadcast: its lane
  };
  struct Link {
    std::int64_t freeAt = 0;
    std::uint32_t last = verify::kNone; // entry whose message it carried last
  };

  void addChannels();
  void addGroups();
  void join(Meeting meeting);
  const LinkTimes &slowestOf(const verify::GroupView &group) const;
  void meet(Meeting &meeting, std::uint32_t lane, std::int64_t now);
  void broadcast(Meeting &meeting, std::uint32_t lane, std::int64_t now);
  std::int64_t reduced(const LinkTimes &link, std::uint32_t lane, std::size_t call) const;

  const verify::ActionTable &table;
  const Durations &durations;
  const std::vector<LaneQueue> &queues;
  std::vector<ActionTimes> &times;
  std::vector<std::size_t> meetingOf; // by lane of the table
  std::vector<Meeting> meetings;
  std::vector<Link> links;
  std::vector<EndOnLane> ended; // of the last call
};

} // namespace vime
