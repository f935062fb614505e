// Who was first: four ranks of a chain, with records as each kind of fault leaves them.
#include "runtime/Trace/Diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Plan/Describe.h"
#include "tests/exec/ChainPlan.h"

namespace vime::flight {
namespace {

using plan::Flow;
using plan::LaneKind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

class DiagnosisTest : public testing::Test {
protected:
  DiagnosisTest() {
    records.resize(4);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      Header &header = records[rank].header;
      header.rank = rank;
      header.ranks = 4;
      header.process = 100 + rank;
      header.state = State::Running;
      header.aliveAt = header.movedAt = 10 * kSecond;
      at(rank, 0);
    }
  }

  /// The rank stands at this action.
  void at(std::uint32_t rank, std::uint32_t action) {
    records[rank].recent = {{.action = action, .step = 3, .microbatch = 0, .begin = 1}};
    records[rank].header.begun = 1;
  }

  std::uint32_t laneOf(std::uint32_t rank, LaneKind kind, Flow flow) const {
    const plan::Program &program = *plan::programOf(plan, rank);
    for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane)
      if (program.lanes[lane].kind == kind && program.lanes[lane].flow == flow)
        return lane;
    ADD_FAILURE() << "no such lane";
    return 0;
  }

  /// `rank` waits for the next message from its neighbour.
  void waits(std::uint32_t rank, Flow flow, bool wasSent = false) {
    const std::uint32_t sender = flow == Flow::Forward ? rank - 1 : rank + 1;
    const std::uint32_t lane = laneOf(rank, LaneKind::Receive, flow);
    records[rank].header.waitLane = lane;
    records[rank].header.waitCount = 5;
    records[rank].header.dispatched[lane] = 5;
    records[sender].header.dispatched[laneOf(sender, LaneKind::Send, flow)] = wasSent ? 5 : 4;
  }

  void fails(std::uint32_t rank, StatusCode code, bool blamesPeer, std::int64_t when) {
    Header &header = records[rank].header;
    header.state = State::Failed;
    header.failureCode = static_cast<std::uint32_t>(code);
    header.blamesPeer = blamesPeer;
    header.failedAt = when;
    constexpr std::string_view kText = "the disk is full\nhelp: empty it";
    std::copy(kText.begin(), kText.end(), header.failure.begin());
  }

  Diagnosis diagnosis() const {
    RecordsByRank all;
    for (const FlightRecord &record : records)
      all.push_back(&record);
    return diagnose(plan, all);
  }

  void expect(Cause cause, std::uint32_t rank, const std::string &sentence) const {
    const Diagnosis found = diagnosis();
    EXPECT_EQ(nameOf(found.cause), nameOf(cause)) << found.sentence;
    EXPECT_EQ(found.rank, rank);
    EXPECT_THAT(found.sentence, HasSubstr(sentence));
  }

  plan::Plan plan = chainPlan({.ranks = 4});
  std::vector<FlightRecord> records;
};

TEST_F(DiagnosisTest, ARankThatWasKilledComesBeforeWhoLostIt) {
  records[2].header.ending = Ending::Signalled;
  records[2].header.endingValue = 9;
  fails(1, StatusCode::RankFailed, true, 1);
  fails(3, StatusCode::RankFailed, true, 2);
  expect(Cause::Killed, 2, "rank 2 was first: its process 102 was ended by signal 9, Killed");
}

TEST_F(DiagnosisTest, TheEarliestOwnFailureIsFirst) {
  fails(0, StatusCode::Interrupted, true, 1);
  fails(3, StatusCode::File, false, 3);
  fails(1, StatusCode::File, false, 2);
  expect(Cause::Failed, 1, "rank 1 was first: it failed: the disk is full");
  EXPECT_THAT(diagnosis().sentence, testing::Not(HasSubstr("help")));
}

TEST_F(DiagnosisTest, WhoTellsNothingMoreVanished) {
  for (const std::uint32_t rank : {0u, 1u, 3u})
    fails(rank, StatusCode::RankFailed, true, rank);
  expect(Cause::Vanished, 2, "its record ends while its peers still told of losing it");
}

TEST_F(DiagnosisTest, AStoppedProcessGivesNoSignOfLife) {
  records[1].header.aliveAt -= kSecond;
  waits(2, Flow::Forward);
  fails(2, StatusCode::Hang, true, 1);
  expect(Cause::Silent, 1, "its process 101 gave no sign of life for 1.0 s");
}

TEST_F(DiagnosisTest, WaitsLeadToWhoIsStuck) {
  waits(3, Flow::Forward);
  waits(2, Flow::Forward);
  waits(0, Flow::Backward);
  records[0].header.movedAt -= 1; // has waited longest
  records[1].header.movedAt = 7 * kSecond;
  at(1, 2);
  expect(Cause::Stuck, 1, "rank 1 was first: it did not go on for 3.0 s");
  const Diagnosis found = diagnosis();
  ASSERT_EQ(found.waits.size(), 3u);
  EXPECT_THAT(found.waits[0].on, ElementsAre(1u));
  EXPECT_THAT(found.waits[2].on, ElementsAre(2u));
  EXPECT_THAT(found.details, ElementsAre(HasSubstr("it was in action 2 ("),
                                         "ranks 0, 2 and 3 waited, directly or behind others"));
}

TEST_F(DiagnosisTest, AMessageThatWasSentAndDoesNotComeIsBlamedItself) {
  waits(3, Flow::Forward);
  waits(2, Flow::Forward, /*wasSent=*/true);
  expect(Cause::Transfer, 2, "transfer 4 of channel `rank 1 → rank 2, forward` did not come to it");
}

TEST_F(DiagnosisTest, ABrokenConnectionComesBeforeTheWaitsThatItCaused) {
  waits(3, Flow::Forward);
  fails(2, StatusCode::RankFailed, true, 10 * kSecond);
  fails(3, StatusCode::Hang, true, 11 * kSecond);
  fails(0, StatusCode::Interrupted, true, 11 * kSecond);
  fails(1, StatusCode::Interrupted, true, 11 * kSecond);
  expect(Cause::LostPeer, 2, "rank 2 was first: the disk is full");
}

TEST_F(DiagnosisTest, AGroupWaitsForWhoHasNotCome) {
  for (const std::uint32_t rank : {0u, 1u, 3u}) {
    const plan::Program &program = *plan::programOf(plan, rank);
    for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane)
      if (program.lanes[lane].kind == LaneKind::Group) {
        records[rank].header.waitLane = lane;
        records[rank].header.waitCount = records[rank].header.dispatched[lane] = 2;
      }
  }
  expect(Cause::Stuck, 2, "it did not go on");
  EXPECT_THAT(diagnosis().waits.front().on, ElementsAre(2u));
}

TEST_F(DiagnosisTest, ThreadsOfAProcessThatIsGoneEndedTogether) {
  for (FlightRecord &record : records)
    record.header.process = 100;
  waits(1, Flow::Forward);
  expect(Cause::Stopped, 0, "all ranks ended together: process 100");
}

TEST_F(DiagnosisTest, OfARunThatEndedWellNothingIsSaid) {
  for (FlightRecord &record : records)
    record.header.state = State::Done;
  EXPECT_EQ(diagnosis().cause, Cause::None);
}

TEST_F(DiagnosisTest, AMissingRecordIsNoCrash) {
  waits(1, Flow::Forward);
  const RecordsByRank partial = {nullptr, &records[1]};
  const Diagnosis found = diagnose(plan, partial);
  EXPECT_EQ(found.cause, Cause::Stuck);
  EXPECT_EQ(found.rank, 0u);
  EXPECT_THAT(found.sentence, HasSubstr("it left no record"));
}

TEST(Words, ListsOfRanks) {
  EXPECT_EQ(ranksInWords({3}), "rank 3");
  EXPECT_EQ(ranksInWords({0, 2}), "ranks 0 and 2");
  EXPECT_EQ(ranksInWords({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "ranks 0, 1, 2, 3, 4, 5, 6 and 3 more");
}

} // namespace
} // namespace vime::flight
