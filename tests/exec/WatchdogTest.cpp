// The watchdog: a rank that does not go on is told, one that waits for a peer is not.
#include "runtime/Exec/Watchdog.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exec/ChainPlan.h"

namespace vime {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Told {
  std::atomic<int> times{0};
  std::atomic<bool> blamesPeer{false};
  Status status; // written once
  Watchdog::OnStuck callback() {
    return [this](std::uint32_t rank, const Status &said, bool blames) {
      blamesPeer = blames;
      if (times == 0)
        status = Status(said.code(), std::to_string(rank) + ": " + said.message());
      ++times;
    };
  }
};

class WatchdogTest : public testing::Test {
protected:
  void SetUp() override {
    recorder.identify({.rank = 1, .ranks = 2});
    recorder.enter(flight::State::Running);
    recorder.begin(2, 0, 5);
  }
  std::uint32_t laneOf(plan::LaneKind kind) const {
    const plan::Program &program = plan.programs[1];
    for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane)
      if (program.lanes[lane].kind == kind)
        return lane;
    return 0;
  }
  plan::Plan plan = chainPlan({.ranks = 2});
  flight::FlightRecorder recorder{flight::FlightFile::inMemory()};
  Told told;
};

TEST_F(WatchdogTest, AnActionThatDoesNotReturnIsToldOnce) {
  recorder.start(0);
  {
    const Watchdog watchdog(plan, {&recorder}, 200ms, told.callback());
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (told.times == 0 && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(5ms);
    std::this_thread::sleep_for(300ms);
  }
  EXPECT_EQ(told.times, 1);
  EXPECT_EQ(told.status.code(), StatusCode::Hang);
  EXPECT_THAT(told.status.message(), HasSubstr("1: rank 1 in action 2 ("));
  EXPECT_THAT(told.status.message(), HasSubstr(" of step 5 did not go on within 0.2 s"));
  EXPECT_GT(recorder.header().aliveAt, recorder.header().movedAt);
}

TEST_F(WatchdogTest, AWaitForAPeerIsTheTransportsToEnd) {
  recorder.waitFor(laneOf(plan::LaneKind::Receive), 1);
  {
    const Watchdog watchdog(plan, {&recorder}, 100ms, told.callback());
    std::this_thread::sleep_for(500ms);
  }
  EXPECT_EQ(told.times, 0);
}

TEST_F(WatchdogTest, WhoSaysThatItGoesOnIsLeftAlone) {
  recorder.start(0);
  {
    const Watchdog watchdog(plan, {&recorder}, 400ms, told.callback());
    for (int step = 0; step < 24; ++step) {
      std::this_thread::sleep_for(50ms);
      recorder.advance();
    }
    EXPECT_EQ(told.times, 0);
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (told.times == 0 && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(told.times, 1);
}

/// In a plan with rounds the transport has no limit.
TEST_F(WatchdogTest, AWaitEndsWhenNobodyGoesOnAnyMore) {
  plan.mesh.pipeline = 1;
  plan.mesh.engines = 1;
  plan.round.rollout.engines = 1;
  flight::FlightRecorder other{flight::FlightFile::inMemory()};
  recorder.waitFor(laneOf(plan::LaneKind::Receive), 1);
  {
    const Watchdog watchdog(plan, {&recorder}, 200ms, told.callback(), {&other.header()});
    for (int step = 0; step < 30; ++step) {
      std::this_thread::sleep_for(50ms);
      other.advance();
    }
    EXPECT_EQ(told.times, 0) << "another one goes on";
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (told.times == 0 && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(told.times, 1);
  EXPECT_TRUE(told.blamesPeer);
  EXPECT_THAT(told.status.message(), HasSubstr("no rank went on within 0.2 s"));
}

TEST_F(WatchdogTest, RewardsHaveLimitsOfTheirOwn) {
  plan.programs[1].actions[2].opcode = plan::code(plan::Opcode::Score);
  flight::FlightRecorder::begin(recorder.worker(0), /*action=*/2);
  {
    const Watchdog watchdog(plan, {&recorder}, 100ms, told.callback());
    std::this_thread::sleep_for(500ms);
    EXPECT_EQ(told.times, 0);
    flight::FlightRecorder::finish(recorder.worker(0));
    std::this_thread::sleep_for(500ms);
  }
  EXPECT_EQ(told.times, 1);
}

} // namespace
} // namespace vime
