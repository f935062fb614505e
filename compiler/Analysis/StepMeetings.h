// StepMeetings: which calls of a step met, and whose message a link carried before whose.
//
//   const StepMeetings meetings(table, run);
//   meetings.of(entry)                       // null: it meets nobody
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/Analysis/Simulate.h"

namespace vime {

struct StepMeeting {
  std::uint32_t first = 0, count = 0; // its entries in StepMeetings::entriesOf
  std::uint32_t root = verify::kNone; // of a broadcast: the root's entry
  std::uint32_t linkBefore =
      verify::kNone;          // of a transfer: the meeting that its link carried before
  bool isFirstOnLink = false; // then that one was of the step before
  bool isTransfer = false;
};

class StepMeetings {
public:
  /// Of the last step of a simulated run.
  StepMeetings(const verify::ActionTable &table, const Simulated &run);

  std::size_t size() const { return meetings.size(); }
  const StepMeeting &operator[](std::uint32_t meeting) const { return meetings[meeting]; }
  std::uint32_t indexOf(std::uint32_t entry) const { return ofEntry[entry]; } // kNone: nobody
  std::span<const std::uint32_t> entriesOf(const StepMeeting &meeting) const {
    return std::span(parties).subspan(meeting.first, meeting.count);
  }

private:
  void addCalls(std::span<const std::uint32_t> lanes, std::uint32_t root, bool isTransfer);
  void orderLinks(const Simulated &run);

  const verify::ActionTable &table;
  std::vector<StepMeeting> meetings;
  std::vector<std::uint32_t> parties;
  std::vector<std::uint32_t> ofEntry;
};

} // namespace vime
