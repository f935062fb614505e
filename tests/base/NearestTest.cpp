#include <array>

#include <gtest/gtest.h>

#include "runtime/Base/Nearest.h"

namespace vime {
namespace {

constexpr std::array<std::string_view, 6> kKeys = {"schedule", "chunks",       "microbatches",
                                                   "seed",     "memory_limit", "steps"};

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("steps", "steps"), 0u);
  EXPECT_EQ(editDistance("stpes", "steps"), 1u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("memory-limit", "memory_limit"), 0u);
}

TEST(Nearest, FindsTheMisspeltWord) {
  EXPECT_EQ(nearest("shedule", kKeys), "schedule");
  EXPECT_EQ(nearest("microbatchs", kKeys), "microbatches");
  EXPECT_EQ(nearest("step", kKeys), "steps");
}

TEST(Nearest, TakesCapitalsForSmallLetters) {
  EXPECT_EQ(editDistance("CPU", "cpu"), 0u);
  EXPECT_EQ(nearest("STEPS", kKeys), "steps");
}

TEST(Nearest, FindsTheWordInsideALongerOne) {
  EXPECT_EQ(nearest("total_microbatches", kKeys), "microbatches");
  EXPECT_EQ(nearest("steps-per-epoch", kKeys), "steps");
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("flavour", kKeys), std::nullopt);
  EXPECT_EQ(nearest("x", kKeys), std::nullopt);
  EXPECT_EQ(nearest("", kKeys), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 's'), kKeys), std::nullopt);
}

} // namespace
} // namespace vime
