// Rounds around every order, with as many microbatches as loops and families are made for.
#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Verify/Verify.h"
#include "tests/lowering/Lowered.h"

namespace vime {
namespace {

std::string judged(const JobShape &shape) {
  Findings findings;
  verifyPlan(lowered(shape), findings);
  SourceCache sources;
  return renderText(findings, sources);
}

TEST(Rounds, OfEveryOrderKeepEveryRule) {
  for (const Order &order : trainingOrders()) {
    const std::string name(order.name);
    if (name == "chimera" || name == "dualpipe" || name == "seq1f1b")
      continue; // jobs with rounds may not have them
    for (const std::uint32_t microbatches : {5u, 12u})
      for (const bool hasReference : {false, true}) {
        if (check(order, {4, static_cast<int>(microbatches), order.chunks.usual}))
          continue;
        SCOPED_TRACE(name + (hasReference ? " with a reference, " : ", ") +
                     std::to_string(microbatches) + " microbatches");
        EXPECT_EQ(judged({.schedule = name,
                          .ranks = 4,
                          .microbatches = microbatches,
                          .chunks = static_cast<std::uint32_t>(order.chunks.usual),
                          .engines = 1,
                          .stepsOfRound = 2,
                          .hasReference = hasReference}),
                  "");
      }
  }
}

} // namespace
} // namespace vime
