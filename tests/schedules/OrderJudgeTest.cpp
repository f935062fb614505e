// The judge of the property tests finds what it is there to find.
#include "tests/schedules/OrderJudge.h"
#include "schedules/Orders/Orders.h"
#include "tests/schedules/ParsedOrder.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

// Of two ranks, one stage on each, two microbatches.
std::string verdict(std::string_view table, const Order &rule = orders::oneFOneB) {
  return verdictOn(rule, parsed(table), {.ranks = 2, .microbatches = 2});
}

TEST(OrderJudge, TakesWhatIsLegal) {
  EXPECT_EQ(verdict("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"), "legal");
  EXPECT_EQ(verdict("0F0,0F1,0I0,0W0,0B1\n1F0,(1F1;1B0)OVERLAP_F_B,1I1,1W1\n"), "legal");
  EXPECT_EQ(verdict("0F0,0F1\n1F0,1F1\n", orders::forwardOnly), "legal");
  EXPECT_EQ(verdict("0F0,0F1,0B1,0B0\n1F0,1F1,1B1,1B0\n", orders::loopedBfs), "legal");
}

TEST(OrderJudge, NamesWhatIsNot) {
  EXPECT_EQ(verdict("0F0,0B0\n"), "wrong number of ranks or stages");
  EXPECT_EQ(verdict("0F0,0F1,1B1,0B0,0B1\n1F0,1B0,1F1\n"), "a task on the wrong rank");
  EXPECT_EQ(verdict("0F0,0F1,0F2,0B0,0B1,0B2\n1F0,1B0,1F1,1B1\n"), "a task of no pass");
  for (const char *table : {"0F0,0F1,0B0\n1F0,1B0,1F1,1B1\n", "0F0,0F1,0I0,0B1\n1F0,1B0,1F1,1B1\n",
                            "0F0,0F1,0B0,0W0,0B1\n1F0,1B0,1F1,1B1\n", "0F0,0F1\n1F0,1F1\n"})
    EXPECT_EQ(verdict(table), "a pass that is missing or runs twice") << table;
  EXPECT_EQ(verdict("0F0,0F1,0B1,0B0\n1F0,1F1,1B1,1B0\n"), "microbatches of a stage out of order");
  EXPECT_EQ(verdict("0F0,0F1,0I0,0I1,0W1,0W0\n1F0,1B0,1F1,1B1\n"),
            "microbatches of a stage out of order");
  EXPECT_EQ(verdict("0F0,0F1,0B0,0B1\n1F0,1B0,(1F1;1B1)OVERLAP_F_B\n"),
            "a pair that waits for itself");
  EXPECT_EQ(verdict("0F0,0F1,0I0,0B1\n(1F0;1W0)OVERLAP_F_B,1I0,1F1,1B1\n"),
            "a pass that is missing or runs twice");
  EXPECT_EQ(verdict("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n"), "rank 0 never completes");
}

} // namespace
} // namespace vime
