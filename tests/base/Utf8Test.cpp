#include "runtime/Base/Utf8.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

TEST(Utf8, LengthsOfCharacters) {
  EXPECT_EQ(utf8Length(""), 0u);
  EXPECT_EQ(utf8Length(std::string_view("\0", 1)), 1u);
  EXPECT_EQ(utf8Length("a\xC3"), 1u);
  EXPECT_EQ(utf8Length("\xC3\xA9z"), 2u);
  EXPECT_EQ(utf8Length("\xE2\x82\xAC"), 3u);
  EXPECT_EQ(utf8Length("\xF0\x9F\x98\x80"), 4u);
  EXPECT_EQ(utf8Length("\xF4\x8F\xBF\xBF"), 4u); // the last one there is
}

TEST(Utf8, WhatIsNone) {
  for (const char *text : {"\x80", "\xC3", "\xC3z", "\xC0\x80", "\xC1\xBF", // longer than needed
                           "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80",      // a surrogate
                           "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"})
    EXPECT_EQ(utf8Length(text), 0u) << text;
}

TEST(Utf8, ReplacesEachByteThatIsNoCharacter) {
  EXPECT_EQ(withReplacements("a\xA9z\xC3\xA9"), "a\uFFFDz\xC3\xA9");
  EXPECT_EQ(withReplacements("\xE2\x82"), "\uFFFD\uFFFD");
  EXPECT_EQ(withReplacements(""), "");
}

} // namespace
} // namespace vime
