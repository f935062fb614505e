// Whatever the lowering makes of a legal order keeps every rule, as judged by those who know
// nothing of the lowering.
#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Plan/PlanFile.h"
#include "schedules/Registry.h"
#include "tests/lowering/Lowered.h"

namespace vime {
namespace {

void expectProved(const JobShape &shape) {
  SCOPED_TRACE(testing::Message() << shape.schedule << " ranks " << shape.ranks << " replicas "
                                  << shape.replicas << " microbatches " << shape.microbatches
                                  << " chunks " << shape.chunks);
  const plan::Plan plan = lowered(shape);
  Findings findings;
  verifyPlan(plan, findings);
  SourceCache sources;
  ASSERT_FALSE(findings.any()) << renderText(findings, sources);
  const std::string bytes = plan::serializePlan(plan);
  const StatusOr<plan::Plan> again = plan::parsePlan(bytes);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(*again == plan);
}

TEST(Proved, Replicas) {
  for (const Order &order : trainingOrders())
    for (const std::uint32_t ranks : {1u, 2u, 4u})
      for (const std::uint32_t replicas : {2u, 3u, 1024u})
        for (const char *exportTo : {"", "out"}) {
          const auto chunks = static_cast<std::uint32_t>(order.chunks.usual);
          if (check(order, {static_cast<int>(ranks), 4, order.chunks.usual}))
            continue;
          expectProved({.schedule = std::string(order.name),
                        .ranks = ranks,
                        .microbatches = 4,
                        .chunks = chunks,
                        .exportTo = exportTo,
                        .replicas = replicas});
          if (testing::Test::HasFatalFailure())
            return;
        }
}

TEST(Proved, EveryOrderAtManySizes) {
  int plans = 0;
  for (const Order &order : trainingOrders())
    for (const std::uint32_t ranks : {1u, 2u, 3u, 4u, 8u})
      for (const std::uint32_t microbatches : {1u, 2u, 3u, 4u, 7u, 8u, 16u})
        for (int chunks = order.chunks.least; chunks <= std::min(order.chunks.most, 3); ++chunks) {
          const ScheduleShape shape{static_cast<int>(ranks), static_cast<int>(microbatches),
                                    chunks};
          if (check(order, shape))
            continue;
          ++plans;
          expectProved({.schedule = std::string(order.name),
                        .ranks = ranks,
                        .microbatches = microbatches,
                        .chunks = static_cast<std::uint32_t>(chunks),
                        .layers = 24,
                        .exportTo = microbatches % 2 ? "out" : ""});
          if (testing::Test::HasFatalFailure())
            return;
        }
  EXPECT_GT(plans, 100);
}

TEST(Proved, EveryOrderWithShortStepsAndEvaluations) {
  int plans = 0;
  for (const Order &order : trainingOrders())
    for (const std::uint32_t ranks : {1u, 2u, 4u})
      for (const std::uint32_t microbatches : {4u, 8u}) {
        const ScheduleShape shape{static_cast<int>(ranks), static_cast<int>(microbatches),
                                  order.chunks.usual};
        if (check(order, shape))
          continue;
        ++plans;
        expectProved({.schedule = std::string(order.name),
                      .ranks = ranks,
                      .microbatches = microbatches,
                      .chunks = static_cast<std::uint32_t>(order.chunks.usual),
                      .layers = 24,
                      .exportTo = "out",
                      .family = {1, microbatches - 1, microbatches},
                      .evaluates = ranks == 2 ? microbatches + 3 : 2});
        if (testing::Test::HasFatalFailure())
          return;
      }
  EXPECT_GT(plans, 10);
}

TEST(Proved, TiedHeadsAndRecomputedLayersOfEveryOrder) {
  for (const Order &order : trainingOrders())
    for (const std::uint32_t ranks : {1u, 2u, 4u})
      if (!check(order, {static_cast<int>(ranks), 8, order.chunks.usual}))
        expectProved({.schedule = std::string(order.name),
                      .ranks = ranks,
                      .microbatches = 8,
                      .chunks = static_cast<std::uint32_t>(order.chunks.usual),
                      .exportTo = "out",
                      .tiedHead = true,
                      .recomputesLayers = ranks != 2});
}

TEST(Proved, TwoCopiesOfTheModel) {
  for (const char *schedule : {"chimera", "dualpipe"})
    for (const std::uint32_t ranks : {2u, 4u, 6u})
      for (const std::uint32_t microbatches : {2 * ranks, 2 * ranks + 2, 40 * ranks})
        for (const std::uint32_t replicas : {1u, 3u}) {
          expectProved({.schedule = schedule,
                        .ranks = ranks,
                        .microbatches = microbatches,
                        .layers = 24,
                        .exportTo = "out",
                        .family = {1, 3, microbatches},
                        // fewer microbatches than a step has, or more
                        .evaluates = replicas != 1 ? 0
                                     : ranks == 2  ? microbatches - 1
                                                   : microbatches + 3,
                        .replicas = replicas,
                        .tiedHead = ranks != 4,
                        .recomputesLayers = ranks == 4,
                        .saves = ranks == 2 ? 5u : 0u});
          if (testing::Test::HasFatalFailure())
            return;
        }
}

/// Bytes of all buffers of a kind on the rank of the first stage.
std::uint64_t bytesOf(const plan::Plan &plan, plan::BufferKind kind) {
  std::uint64_t bytes = 0;
  for (const plan::Buffer &buffer : plan.layouts[0].buffers)
    if (buffer.kind == kind)
      bytes += buffer.extent();
  return bytes;
}

TEST(Proved, RecomputedLayersLeaveTheArena) {
  const JobShape kept{.schedule = "1f1b", .ranks = 4, .microbatches = 8};
  JobShape again = kept;
  again.recomputesLayers = true;
  const plan::Plan before = lowered(kept), after = lowered(again);
  // 4 microbatches alive; of each layer 16 tokens of (5 hidden + 2 ffn + heads + 2) words.
  const std::uint64_t layer = 4 * 16 * (5 * 16 + 2 * 24 + 2 + 2), layers = 4, alive = 4;
  using enum plan::BufferKind;
  EXPECT_EQ(bytesOf(before, Stash) - bytesOf(after, Stash), alive * layers * layer);
  const std::uint64_t workspace = bytesOf(after, Workspace) - bytesOf(before, Workspace);
  EXPECT_GE(workspace, layer);
  EXPECT_LT(workspace, 2 * layer);
  EXPECT_EQ(before.layouts[0].arena[0] - after.layouts[0].arena[0],
            alive * layers * layer - workspace);
}

} // namespace
} // namespace vime
