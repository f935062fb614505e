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
  for (const Order &order : allOrders())
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
  for (const Order &order : allOrders())
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

} // namespace
} // namespace vime
