// The first page about a plan.
#include "compiler/View/Summary.h"

#include <gtest/gtest.h>

#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;

TEST(Summary, SmallPlan) {
  const std::string_view proved[] = {"S1", "C1", "C2"};
  EXPECT_EQ("\n" + planSummary(smallPlan({.exportTo = "model"}), proved), R"(
job       small
plan      cee6a86390a128f9f3ccc3f15bc3d280
model     null, 2 layers, in 2 stages
schedule  1f1b on 2 ranks, 2 microbatches of 8 tokens
run       3 steps, then export to model
bubble    33.3 % at unit costs (step 9 units, at most 2 stashes on a rank)
expected  0.25 s a step, bubble 12.5 % (as long as stages sleep)
proved    S1 C1 C2
  rank   actions  peak memory  stages
  0           26     4.13 KiB  0
  1           24     3.75 KiB  1
)");
}

TEST(Summary, WhatVariesIsSaid) {
  Plan plan = smallPlan();
  plan.decisions = {
      {Decision::Microbatches, {1, 2}}, {Decision::Evaluate, {0, 1}}, {Decision::Bad, {0, 1}}};
  EXPECT_NE(planSummary(plan).find("\nvaries    microbatches 1 or 2, evaluate\nrun "),
            std::string::npos);
  plan.decisions[0].values = {2, 3, 4, 6, 7, 8, 9, 10, 12};
  EXPECT_NE(planSummary(plan).find("\nvaries    microbatches 2 to 12 (9 numbers), evaluate\n"),
            std::string::npos);
}

TEST(Summary, ManyRanksAreShortened) {
  Plan plan = smallPlan();
  plan.mesh.pipeline = 64;
  plan.programOf.resize(64, 1);
  plan.layoutOf.resize(64, 1);
  const std::string text = planSummary(plan);
  EXPECT_NE(text.find("  … 48 more\n"), text.npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7 + 1 + 16 + 1);
}

TEST(BytesInWords, ThreeDigitsNeverLess) {
  EXPECT_EQ(bytesInWords(0), "0 B");
  EXPECT_EQ(bytesInWords(1023), "1023 B");
  EXPECT_EQ(bytesInWords(1024), "1 KiB");
  EXPECT_EQ(bytesInWords(1025), "1.01 KiB");
  EXPECT_EQ(bytesInWords(1536), "1.5 KiB");
  EXPECT_EQ(bytesInWords(123456789), "118 MiB");
  EXPECT_EQ(bytesInWords(std::uint64_t{5} << 30), "5 GiB");
}

} // namespace
} // namespace vime
