#include "runtime/Reward/CommandWords.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> split(std::string_view command) {
  const auto words = splitCommand(command);
  EXPECT_TRUE(words.ok()) << words.status().message();
  return words.ok() ? *words : std::vector<std::string>();
}
std::string complaint(std::string_view command) {
  const auto words = splitCommand(command);
  return words.ok() ? "none" : words.status().message();
}

TEST(CommandWords, AsAShellSplitsThem) {
  EXPECT_THAT(split("  python3\tscore.py \n"), ElementsAre("python3", "score.py"));
  EXPECT_THAT(split("a 'b c' \"d e\" f\\ g"), ElementsAre("a", "b c", "d e", "f g"));
  EXPECT_THAT(split("a'b'\"c\"d ''"), ElementsAre("abcd", ""));
  EXPECT_THAT(split("a \"\\\"\" '\\' \\|"), ElementsAre("a", "\"", "\\", "|"));
  EXPECT_THAT(split("a '$(rm -rf /); | `x`'"), ElementsAre("a", "$(rm -rf /); | `x`"));
}

TEST(CommandWords, WhatAShellWouldActUponIsRefused) {
  for (const char *command : {"a | b", "a; b", "a > b", "a $B", "a `b`", "a *.py", "a & ", "~/a"})
    EXPECT_THAT(complaint(command), HasSubstr("no shell that would act upon it")) << command;
  EXPECT_THAT(complaint("a 'b"), HasSubstr("has a ' that does not end"));
  EXPECT_THAT(complaint("a \\"), HasSubstr("ends with a backslash"));
  EXPECT_THAT(complaint(" "), HasSubstr("names no program"));
  EXPECT_THAT(complaint("'' a"), HasSubstr("names no program"));
  EXPECT_THAT(complaint(std::string_view("a\0b", 3)), HasSubstr("zero byte"));
}

} // namespace
} // namespace vime
