// The small parts around the executor: memory, outcomes, reports, sleep.
#include <algorithm>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Exec/Arena.h"
#include "runtime/Exec/RankReports.h"
#include "runtime/Exec/RunOutcome.h"
#include "runtime/Transport/Sleeper.h"

namespace vime {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// ---- Arena ---------------------------------------------------------------------------------------

TEST(Arena, HasAsManyBytesAsAskedForAllZero) {
  for (const std::uint64_t bytes : {0ul, 64ul, 4096ul, 1000064ul})
    for (const Arena::Edge edge : {Arena::Edge::Plain, Arena::Edge::Guarded}) {
      StatusOr<Arena> arena = Arena::reserve(bytes, edge);
      ASSERT_TRUE(arena.ok());
      EXPECT_EQ(arena->size(), bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena->data()) % 64, 0u);
      for (std::uint64_t at = 0; at < bytes; ++at)
        ASSERT_EQ(arena->data()[at], std::byte{0});
    }
}

TEST(Arena, ItsPagesAreThereBeforeTheyAreUsed) {
  constexpr std::uint64_t kBytes = 16 << 20;
  StatusOr<Arena> arena = Arena::reserve(kBytes);
  ASSERT_TRUE(arena.ok());
  std::vector<unsigned char> resident(kBytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  ASSERT_EQ(mincore(arena->data(), kBytes, resident.data()), 0);
  EXPECT_EQ(std::count(resident.begin(), resident.end(), 0), 0);
}

TEST(ArenaDeathTest, TheByteBehindAGuardedArenaIsDeadly) {
  StatusOr<Arena> arena = Arena::reserve(128, Arena::Edge::Guarded);
  ASSERT_TRUE(arena.ok());
  std::byte *volatile data = arena->data();
  data[127] = std::byte{1};
  EXPECT_DEATH(data[128] = std::byte{1}, "");
}

TEST(Arena, MoreThanThereIsIsAStatus) {
  const StatusOr<Arena> arena = Arena::reserve(std::uint64_t(1) << 60);
  ASSERT_FALSE(arena.ok());
  EXPECT_EQ(arena.status().code(), StatusCode::Unacceptable);
  EXPECT_THAT(arena.status().message(), HasSubstr("cannot reserve 1152921504606846976 bytes"));
}

// ---- RunOutcome ----------------------------------------------------------------------------------

const Status kOwn(StatusCode::File, "the disk is full"),
    kLost(StatusCode::RankFailed, "lost rank 1"), kStopped(StatusCode::Interrupted, "stopped"),
    kKilled(StatusCode::RankFailed, "rank 1 was ended");

TEST(RunOutcome, TheFirstOwnFailureIsTheCauseWhateverCameBefore) {
  RunOutcome outcome;
  EXPECT_TRUE(outcome.status().ok());
  outcome.record(Status());
  outcome.record(kStopped);
  outcome.record(kLost);
  EXPECT_EQ(outcome.status().message(), "lost rank 1");
  EXPECT_FALSE(outcome.isCertain());
  outcome.record(kOwn);
  outcome.record(Status(StatusCode::Hang, "later"));
  EXPECT_EQ(outcome.status().message(), "the disk is full");
  EXPECT_TRUE(outcome.isCertain());
}

TEST(RunOutcome, OfALostPeerAndAMissedOneTheFirstIsTheCause) {
  const Status lost(StatusCode::RankFailed, "lost rank 1"),
      late(StatusCode::Hang, "rank 1 is late");
  constexpr std::int64_t kSecond = 1'000'000'000;
  RunOutcome outcome;
  outcome.record(lost, false, 10 * kSecond);
  EXPECT_FALSE(outcome.isCertain());
  outcome.record(late, false, 11 * kSecond);
  EXPECT_EQ(outcome.status().message(), "lost rank 1");
  // A wait that ends breaks connections, which others may notice a little before.
  outcome.record(late, false, 10 * kSecond + 1);
  EXPECT_EQ(outcome.status().message(), "rank 1 is late");
  RunOutcome other;
  other.record(late);
  EXPECT_TRUE(other.isCertain());
  other.record(lost);
  EXPECT_EQ(other.status().message(), "rank 1 is late");
  other.record(lost, /*own=*/true); // an exception has this code too
  EXPECT_EQ(other.status().message(), "lost rank 1");
}

TEST(RunOutcome, AKilledRankComesFirst) {
  RunOutcome outcome;
  outcome.record(kOwn);
  outcome.recordDeath(kKilled);
  EXPECT_EQ(outcome.status().message(), "rank 1 was ended");
}

TEST(RunOutcome, AnInterruptOfAFailingRunIsNoExcuse) {
  RunOutcome outcome;
  outcome.record(kOwn);
  outcome.interrupt();
  EXPECT_EQ(outcome.status().code(), StatusCode::File);
  RunOutcome quiet;
  quiet.interrupt();
  quiet.record(kOwn);
  EXPECT_EQ(quiet.status().code(), StatusCode::Interrupted);
}

// ---- RankReports ---------------------------------------------------------------------------------

class Listener final : public RunObserver {
public:
  void stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) override {
    steps.push_back(record);
    stats.assign(ranks.begin(), ranks.end());
  }
  void evaluated(const EvaluationRecord &record) override { evaluations.push_back(record); }
  void exported() override { ++exports; }
  std::vector<EvaluationRecord> evaluations;
  void saved(std::uint64_t steps) override { savedSteps.push_back(steps); }
  std::vector<StepRecord> steps;
  std::vector<plan::RankStats> stats;
  std::vector<std::uint64_t> savedSteps;
  int exports = 0;
};

TEST(RankReports, CrossAPipeInAnyPieces) {
  int whole[2], pieces[2];
  ASSERT_EQ(pipe(whole), 0);
  ASSERT_EQ(pipe(pieces), 0);
  ReportWriter writer(whole[1]);
  const std::vector<plan::RankStats> stats = {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}};
  writer.stepFinished({.step = 41, .loss = 2.5, .tokens = 16}, stats);
  writer.evaluated({.step = 41, .loss = 2.25, .tokens = 32, .ends = 1});
  writer.saved(42);
  writer.exported();
  writer.ended(Status(StatusCode::Hang, "rank 1 did not come"), /*own=*/true);
  close(whole[1]);

  Listener listener;
  ReportReader reader(pieces[0], listener);
  for (char byte; read(whole[0], &byte, 1) == 1;) { // one byte at a time
    ASSERT_EQ(write(pieces[1], &byte, 1), 1);
    ASSERT_TRUE(reader.read());
  }
  close(pieces[1]);
  EXPECT_FALSE(reader.read());
  ASSERT_EQ(listener.steps.size(), 1u);
  EXPECT_EQ(listener.steps[0].step, 41u);
  EXPECT_EQ(listener.steps[0].loss, 2.5);
  ASSERT_EQ(listener.stats.size(), 2u);
  EXPECT_EQ(listener.stats[1].exportedTensors, 10u);
  EXPECT_EQ(listener.savedSteps, std::vector<std::uint64_t>{42});
  EXPECT_EQ(listener.exports, 1);
  ASSERT_EQ(listener.evaluations.size(), 1u);
  EXPECT_EQ(listener.evaluations[0].loss, 2.25);
  EXPECT_EQ(listener.evaluations[0].ends, 1u);
  ASSERT_TRUE(reader.hasEnded());
  EXPECT_EQ(reader.status().code(), StatusCode::Hang);
  EXPECT_EQ(reader.status().message(), "rank 1 did not come");
  EXPECT_TRUE(reader.failedItself());
  close(whole[0]);
  close(pieces[0]);
}

// ---- Sleeper -------------------------------------------------------------------------------------

TEST(Sleeper, EveryAdvanceIsSeen) {
  // Two threads wake each other in turn: one wake that gets lost, and this never ends.
  for (const bool spins : {false, true}) {
    Sleeper first(spins), second(spins);
    std::atomic<std::uint64_t> ping{0}, pong{0};
    constexpr std::uint64_t kRounds = 20000;
    std::thread other([&] {
      for (std::uint64_t round = 1; round <= kRounds; ++round) {
        ASSERT_EQ(second.await(ping, round, 20s), Sleeper::Outcome::Reached);
        first.advance(pong, round);
      }
    });
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      second.advance(ping, round);
      ASSERT_EQ(first.await(pong, round, 20s), Sleeper::Outcome::Reached);
    }
    other.join();
  }
}

TEST(Sleeper, IsLateOrInterruptedButNotWhenReached) {
  Sleeper sleeper(/*spins=*/false);
  std::atomic<std::uint64_t> counter{3};
  EXPECT_EQ(sleeper.await(counter, 3, 0s), Sleeper::Outcome::Reached);
  EXPECT_EQ(sleeper.await(counter, 4, 5ms), Sleeper::Outcome::Late);
  std::thread other([&] { sleeper.interrupt(); });
  EXPECT_EQ(sleeper.await(counter, 4, 20s), Sleeper::Outcome::Interrupted);
  other.join();
  EXPECT_EQ(sleeper.await(counter, 3, 20s), Sleeper::Outcome::Reached);
}

} // namespace
} // namespace vime
