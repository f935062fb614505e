// The text of a plan, read back.
#include "compiler/View/PlanTextReader.h"

#include <random>

#include <gtest/gtest.h>

#include "compiler/View/PlanText.h"
#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/PlanFile.h"
#include "tests/dialects/RandomPlan.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;

std::string failureOf(const std::string &text) {
  const StatusOr<Plan> plan = parsePlanText(text);
  return plan.ok() ? "none" : plan.status().message();
}

std::string changed(std::string_view from, std::string_view to) {
  std::string text = planText(smallPlan());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ReadText, TheSamePlanAndTheSameBytes) {
  for (const Plan &plan :
       {smallPlan(), smallPlan({.steps = 7, .exportTo = "a \"b\" \\ # c"}), foldedPlan()}) {
    const StatusOr<Plan> read = parsePlanText(planText(plan));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, plan);
    EXPECT_EQ(serializePlan(*read), serializePlan(plan));
  }
}

// Something in every field.
TEST(ReadText, RandomPlans) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Plan plan = randomPlan(seed);
    const StatusOr<Plan> read = parsePlanText(planText(plan));
    ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.status().message();
    EXPECT_EQ(*read, plan) << "seed " << seed;
  }
}

TEST(ReadText, WhatNoActionUses) {
  Plan plan = smallPlan();
  plan.programs[0].operands.push_back(3);
  plan.programs[0].lanes[0].slots = 9;
  plan.programs[0].lanes[1].group = 2;
  plan.programs[0].actions[1].waits = {Wait{}, Wait::on(2, 5)};
  plan.groups[0].axes = 0;
  plan.groups[1].axes = 5;
  plan.programs[0].lanes[2].peer = {false, Axis::Pipeline, -3};
  plan.job = "a: 1\n\nb: \"x\"";
  plan.optimizer.learningRate = 0.1 + 0.2;
  const StatusOr<Plan> read = parsePlanText(planText(plan));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, plan);
}

TEST(ReadText, CommentsAndBlanksCarryNothing) {
  std::string text = changed("schedule ", "\n  # a comment\n\tschedule   ");
  EXPECT_EQ(*parsePlanText(text), smallPlan());
  std::string bare;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    bare += line.substr(0, line.starts_with("| ") ? line.npos : line.find("# ")) + "\r\n";
  }
  EXPECT_EQ(parsePlanText(bare)->programs, smallPlan().programs);
}

TEST(ReadText, FailuresHaveLineAndColumn) {
  EXPECT_EQ(failureOf(""), "1:1: expected `plan 1`, found the end of the text");
  EXPECT_EQ(failureOf("plan 2\n"), "1:6: expected `1`, found `2`");
  EXPECT_EQ(failureOf(changed("mesh pp 2", "mesh pp x")),
            "4:9: expected a whole number from 0 to 4294967295, found `x`");
  EXPECT_EQ(failureOf(changed("mesh pp 2", "mesh pp 4294967296")),
            "4:9: expected a whole number from 0 to 4294967295, found `4294967296`");
  EXPECT_EQ(failureOf(changed("mesh pp 2", "mesh dp 2")), "4:6: expected `pp`, found `dp`");
  EXPECT_EQ(failureOf(changed(" tp 1", "")), "4:20: expected `tp`, found the end of the line");
  EXPECT_EQ(failureOf(changed(" tp 1", " tp 1 2")),
            "4:26: expected the end of the line, found `2`");
  EXPECT_EQ(failureOf(changed("\"small\"", "small")),
            "5:10: expected a text in double quotes, found `small`");
  EXPECT_EQ(failureOf(changed("mesh", "mash")), "4:1: no line of a plan starts with `mash`");
  EXPECT_EQ(failureOf(changed("mesh", "run name \"é\" steps x")),
            "4:20: expected a whole number from 0 to 18446744073709551615, found `x`");
}

TEST(ReadText, LinesThatMustStandOnceDo) {
  EXPECT_NE(
      failureOf(
          changed("mesh pp", "limits connect_seconds 1 transfer_seconds 1 memory_bytes 2\nmesh pp"))
          .find("a second line `limits`"),
      std::string::npos);
  std::string text = planText(smallPlan());
  const std::size_t at = text.find("limits");
  text.erase(at, text.find('\n', at) + 1 - at);
  EXPECT_NE(failureOf(text).find("the plan has no line `limits`"), std::string::npos);
}

TEST(ReadText, ProgramsAreWhole) {
  const auto ends = [](const std::string &failure, std::string_view end) {
    EXPECT_TRUE(failure.ends_with(end)) << failure;
  };
  ends(failureOf(changed("action 1 decide", "action 2 decide")), "expected `1`, found `2`");
  ends(failureOf(changed("action 1 decide", "action 1 dozide")),
       "expected the name of an action such as `decide`, found `dozide`");
  ends(failureOf(changed("action 1 decide", "action 1 xyz")),
       "expected the name of an action, found `xyz`");
  ends(failureOf(changed("operands 3 header 0", "operands 4000000000 header 0")),
       "entry 3 of the operand pool is missing");
  ends(failureOf(
           changed("operands 0 weights 10", "operands 0 weights 10 moments 1 gradients 1 x 1")),
       "`initialize` has no further operand");
  ends(failureOf(changed("operands 4 header 0", "operands 3 header 1")),
       "entry 3 of the operand pool has two buffers");
  ends(failureOf("plan 1\nlane 0 compute\n"), "this belongs to a program, and none has begun");
  ends(failureOf("plan 1\nbuffer 0 header tier device\n"),
       "this belongs to a layout, and none has begun");
}

// Whatever a text says, reading it ends.
TEST(ReadText, HostileTextsAreRefused) {
  const std::string whole = planText(foldedPlan());
  std::mt19937 random(1);
  const std::string_view letters = "0123456789 \n\"\\#|-:=+x\xC3\x00";
  std::size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 == 0 ? whole : whole.substr(0, 1 + random() % whole.size());
    for (unsigned change = 0; change <= random() % 4; ++change)
      text[random() % text.size()] = letters[random() % letters.size()];
    const StatusOr<Plan> plan = parsePlanText(text);
    refused += plan.ok() ? 0 : 1;
    if (plan.ok() && checkPlan(*plan).ok()) { // only such a plan is printed
      EXPECT_EQ(*parsePlanText(planText(*plan)), *plan);
    }
  }
  EXPECT_GT(refused, 1500u);
}

} // namespace
} // namespace vime
