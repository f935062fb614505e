// What a run shows of itself while it goes on.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/Plan/Allowance.h"
#include "runtime/Tools/Progress.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace std::chrono_literals;

/// All that is shown of steps with these losses.
std::string shownOf(const std::vector<double> &losses, Progress::Style style,
                    std::chrono::milliseconds longestSilence = 1h) {
  std::FILE *const stream = std::tmpfile();
  Progress progress(smallPlan({.steps = losses.size()}), "local", "", style, stream,
                    longestSilence);
  for (std::uint64_t step = 0; step < losses.size(); ++step)
    progress.stepFinished({.step = step, .loss = losses[step]}, {});
  progress.close();
  std::string text(static_cast<std::size_t>(std::ftell(stream)), '\0');
  std::rewind(stream);
  text.resize(std::fread(text.data(), 1, text.size(), stream));
  std::fclose(stream);
  return text;
}

std::size_t linesIn(const std::string &text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Progress, LinesAreAboutTwentyOrMoreIfTheyWouldBeFarApart) {
  const std::vector<double> losses(200, 1.0);
  EXPECT_EQ(linesIn(shownOf(losses, Progress::Style::Lines)), 21u);
  EXPECT_EQ(linesIn(shownOf(losses, Progress::Style::Lines, 0ms)), 200u);
  EXPECT_EQ(shownOf(losses, Progress::Style::Silent), "");
}

TEST(Progress, ALossThatIsNotANumberIsSaidOnceEvenInSilence) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(shownOf({1, nan, nan}, Progress::Style::Silent),
            "warning: the loss of step 2 is not a number\n");
  EXPECT_EQ(shownOf({1, std::numeric_limits<double>::infinity(), nan}, Progress::Style::Silent),
            "warning: the loss of step 2 is not finite\n");
}

TEST(Progress, EvaluationsAndSkippedStepsAreSaid) {
  std::FILE *const stream = std::tmpfile();
  Progress progress(smallPlan({.steps = 30}), "local", "", Progress::Style::Lines, stream, 1h);
  progress.stepFinished({.step = 0, .loss = 2, .skipped = 1}, {});
  progress.evaluated({.step = 0, .loss = 1.5, .tokens = 8, .ends = 1});
  progress.close();
  std::string text(static_cast<std::size_t>(std::ftell(stream)), '\0');
  std::rewind(stream);
  text.resize(std::fread(text.data(), 1, text.size(), stream));
  std::fclose(stream);
  EXPECT_EQ(text, R"(warning: the gradients of step 1 are not finite; it changes no parameter
step  1/30  loss 2.0000       0 tokens/s  0.000 s (plan 0.250)  bubble  0.0 % (plan 12.5)  1 skipped
step  1/30  held-out loss 1.5000, which ends the run
)");
  EXPECT_EQ(progress.result().skippedSteps(), 1u);
  EXPECT_NE(textOf(progress.result()).find("skipped       1 step whose gradients were not finite"),
            std::string::npos);
}

plan::Plan planWithRounds() {
  plan::Plan plan = smallPlan({.steps = 2});
  plan.mesh.engines = plan.round.rollout.engines = 1;
  plan.programs.emplace_back();
  plan.layouts.emplace_back();
  plan.programOf = plan.layoutOf = {0, 1, 2};
  return plan;
}

std::string shownOfRound(Progress::Style style, std::string *summary = nullptr) {
  std::FILE *const stream = std::tmpfile();
  Progress progress(planWithRounds(), "local", "", style, stream, 1h);
  PromptsRecord held{.round = 0, .version = 1, .prompts = 3, .samples = 2, .mean = 0.25};
  held.passCount = 2;
  held.passOf = {1, 2};
  held.passAt = {0.25, 0.5};
  progress.promptsEvaluated(held);
  progress.roundFinished({.round = 0,
                          .version = 1,
                          .samples = 4,
                          .tokens = 50,
                          .rewardMean = 0.5,
                          .syncSeconds = 0.25,
                          .generationSeconds = 0.5,
                          .scoreSeconds = 0.25});
  progress.stepFinished({.step = 0,
                         .loss = 0.125,
                         .ofRound = 1,
                         .policy = {.kl = 0.03125, .ratio = 1, .clipped = 0.25, .seconds = 0.5}},
                        {});
  progress.close();
  if (summary)
    *summary =
        style == Progress::Style::JsonLines ? jsonOf(progress.result()) : textOf(progress.result());
  std::string text(static_cast<std::size_t>(std::ftell(stream)), '\0');
  std::rewind(stream);
  text.resize(std::fread(text.data(), 1, text.size(), stream));
  std::fclose(stream);
  return text;
}

TEST(Progress, RoundsStandOnTheLinesOfTheirSteps) {
  std::string summary;
  EXPECT_EQ(shownOfRound(Progress::Style::Lines, &summary),
            R"(version 1  held-out prompts: mean reward 0.250, pass@1 0.250, pass@2 0.500
step 1/2  round 1  reward 0.500  length 12.5  loss 0.1250  kl 0.031  clipped 25.0 %  0.500 s + 1.000 s rollout, 100 tokens/s  bubble  0.0 % (plan 12.5)
)");
  EXPECT_NE(summary.find("1 round, reward 0.500 → 0.500\n  rollouts      1.0 s: sync 0.2 s, "
                         "generation 0.5 s at 100 tokens/s, rewards 0.2 s"),
            summary.npos)
      << summary;
  EXPECT_NE(summary.find("held-out prompts: mean reward 0.250"), summary.npos) << summary;
}

TEST(Progress, JsonSaysWhatARoundDidToThePolicy) {
  std::string summary;
  const std::string text = shownOfRound(Progress::Style::JsonLines, &summary);
  EXPECT_NE(text.find(R"({"event":"round","round":0,"version":1,"samples":4,"tokens":50,)"),
            text.npos)
      << text;
  EXPECT_NE(text.find(R"("pass_at":{"1":0.25,"2":0.5})"), text.npos) << text;
  EXPECT_NE(text.find(R"("policy":{"kl":0.03125,"ratio":1.0,"entropy":0.0,"clip_fraction":0.25,)"),
            text.npos)
      << text;
  EXPECT_NE(summary.find("\"rounds\": ["), summary.npos);
  EXPECT_NE(summary.find("\"prompt_evaluations\": ["), summary.npos);
}

TEST(Progress, JsonLinesSayEveryStep) {
  const std::string text =
      shownOf({1.5, std::numeric_limits<double>::quiet_NaN()}, Progress::Style::JsonLines);
  EXPECT_EQ(linesIn(text), 3u);
  EXPECT_NE(text.find(R"({"event":"start","name":"small","plan":")"), text.npos) << text;
  EXPECT_NE(text.find(R"("ranks":2,"steps":2,"transport":"local","arena_bytes":[)"), text.npos)
      << text;
  EXPECT_NE(
      text.find(R"("expected":{"costs":"as long as stages sleep","seconds":0.25,"bubble":0.125}})"),
      text.npos)
      << text;
  EXPECT_NE(text.find(R"("tokens_per_second":0.0,"bubble":0.0})"), text.npos) << text;
  EXPECT_NE(text.find(R"({"event":"step","step":0,"loss":1.5,)"), text.npos) << text;
  EXPECT_NE(text.find(R"({"event":"step","step":1,"loss":null,)"), text.npos) << text;
}

TEST(Progress, WhatWasResidentIsComparedWithWhatIsAllowed) {
#if defined(VIME_ADDRESS_SANITIZER) || defined(VIME_THREAD_SANITIZER)
  GTEST_SKIP() << "a sanitizer's shadow is resident too: nobody is warned";
#endif
  const plan::Plan plan = smallPlan();
  const std::uint64_t allowed =
      plan::processAllowance(plan) + plan::arenaBytes(plan, 1) + plan::rankAllowance(plan, 1);
  std::FILE *const stream = std::tmpfile();
  Progress progress(plan, "gloo", "", Progress::Style::Silent, stream, 1h);
  progress.measured({0, 1, allowed / 2});
  EXPECT_EQ(std::ftell(stream), 0);
  progress.measured({1, 1, allowed + 3 * 1024});
  std::string text(static_cast<std::size_t>(std::ftell(stream)), '\0');
  std::rewind(stream);
  text.resize(std::fread(text.data(), 1, text.size(), stream));
  std::fclose(stream);
  EXPECT_TRUE(text.starts_with("warning: rank 1 had ")) << text;
  EXPECT_TRUE(text.ends_with(" resident, 3.0 KiB more than its arenas and their allowance\n"))
      << text;
  EXPECT_NE(
      textOf(progress.result()).find("\n  resident      13.0 MiB of 13.0 MiB allowed, rank 1"),
      std::string::npos)
      << textOf(progress.result());
}

TEST(Progress, WordsOfTheOption) {
  std::FILE *const file = std::tmpfile();
  EXPECT_EQ(Progress::styleFor("auto", file), Progress::Style::Lines);
  EXPECT_EQ(Progress::styleFor("plain", file), Progress::Style::Lines);
  EXPECT_EQ(Progress::styleFor("jsonl", file), Progress::Style::JsonLines);
  EXPECT_EQ(Progress::styleFor("none", file), Progress::Style::Silent);
  std::fclose(file);
}

} // namespace
} // namespace vime
