// Orders of forwards alone, as grids.
#include "schedules/ForwardOnly.h"

#include <gtest/gtest.h>

#include "schedules/Notation.h"

namespace vime {
namespace {

std::string csv(const Placement &placement, int ranks, int microbatches) {
  std::string text = "\n" + toCsv(forwardOnly(placement, ranks, microbatches));
  std::erase(text, '\r');
  return text;
}

TEST(ForwardOnly, OneStageOnEachRank) {
  EXPECT_EQ(csv({0, 1}, 2, 3), R"(
0F0,0F1,0F2
1F0,1F1,1F2
)");
}

TEST(ForwardOnly, SeveralStagesTakeAsManyMicrobatchesInTurnAsThereAreRanks) {
  EXPECT_EQ(csv({0, 1, 0, 1}, 2, 3), R"(
0F0,0F1,2F0,2F1,0F2,2F2
1F0,1F1,3F0,3F1,1F2,3F2
)");
}

TEST(ForwardOnly, AlongAVee) {
  EXPECT_EQ(csv({0, 1, 1, 0}, 2, 2), R"(
0F0,0F1,3F0,3F1
1F0,1F1,2F0,2F1
)");
}

} // namespace
} // namespace vime
