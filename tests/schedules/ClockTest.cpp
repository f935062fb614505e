#include "schedules/PipelineClock.h"

#include <gtest/gtest.h>

#include "schedules/Registry.h"

namespace vime {
namespace {

std::string picture(const PipelineClock &clock) {
  std::string text;
  for (const PipelineNode &node : clock.nodes) {
    constexpr const char *kNames[] = {"F", "B", "I",
                                      "W", "f", "b"}; // lower case: the transfer of its result
    text += (text.empty() ? "" : " ") + std::to_string(node.stage) +
            kNames[static_cast<int>(node.kind)] + std::to_string(node.microbatch);
  }
  return text;
}

TEST(PipelineClock, TransfersStandAsEarlyAsTheyCan) {
  const auto clock = layClock(findOrder("1f1b")->build({.ranks = 2, .microbatches = 3}), 3);
  ASSERT_TRUE(clock);
  EXPECT_EQ(picture(*clock),
            "0F0 0f0 0F1 1F0 0f1 1B0 1b0 0B0 1F1 1B1 0F2 0f2 1b1 0B1 1F2 1B2 1b2 0B2");
  EXPECT_EQ(clock->makespan, 12);
  EXPECT_EQ(clock->peakLive, 2);
  EXPECT_DOUBLE_EQ(clock->bubble, 0.25);
}

TEST(PipelineClock, AnOrderThatWaitsForItselfHasNone) {
  Schedule order{{0, 1},
                 {{{TaskKind::Backward, 0, 0}, {TaskKind::Forward, 0, 0}},
                  {{TaskKind::Forward, 1, 0}, {TaskKind::Backward, 1, 0}}}};
  EXPECT_FALSE(layClock(order, 1));
}

TEST(PipelineClock, SendersThatRunFarAheadGetTheSlotsTheyNeed) {
  // Rank 0 makes all forwards before rank 1 starts its first, which waits for the local stage
  // behind them.
  Schedule order{{0, 1, 0}, {{}, {}}};
  const int microbatches = 8;
  for (int microbatch = 0; microbatch < microbatches; ++microbatch)
    order.rows[0].push_back({TaskKind::Forward, 0, microbatch});
  for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
    order.rows[0].push_back({TaskKind::Forward, 2, microbatch});
    order.rows[0].push_back({TaskKind::Backward, 2, microbatch});
    order.rows[1].push_back({TaskKind::Forward, 1, microbatch});
    order.rows[1].push_back({TaskKind::Backward, 1, microbatch});
  }
  for (int microbatch = 0; microbatch < microbatches; ++microbatch)
    order.rows[0].push_back({TaskKind::Backward, 0, microbatch});
  EXPECT_TRUE(layClock(order, microbatches));
}

} // namespace
} // namespace vime
