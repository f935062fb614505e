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
