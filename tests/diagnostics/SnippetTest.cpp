#include <gtest/gtest.h>

#include "compiler/Diagnostics/Snippet.h"
#include "compiler/Diagnostics/Utf8.h"

namespace vime {
namespace {

// The line, and below it the underline.
std::string drawn(std::string_view line, int column, int length) {
  const Snippet shown = snippet(line, column, length);
  return shown.text + '\n' + std::string(static_cast<std::size_t>(shown.underline), ' ') +
         std::string(static_cast<std::size_t>(shown.width), '^');
}

TEST(Snippet, UnderlinesCharacters) {
  EXPECT_EQ(drawn("run: {steps: 200}", 14, 3), "run: {steps: 200}\n"
                                               "             ^^^");
}

TEST(Snippet, ShowsTabsAsFourSpaces) {
  EXPECT_EQ(drawn("\trun:\t{}", 6, 1), "    run:    {}\n"
                                       "        ^^^^");
  EXPECT_EQ(drawn("\trun:\t{}", 7, 2), "    run:    {}\n"
                                       "            ^^");
}

TEST(Snippet, KnowsThatSomeCharactersAreTwoColumnsWide) {
  EXPECT_EQ(drawn("text: 日本, x", 7, 2), "text: 日本, x\n"
                                          "      ^^^^");
  EXPECT_EQ(drawn("größe: 1", 8, 1), "größe: 1\n"
                                     "       ^");
}

TEST(Snippet, ACombiningMarkTakesNoColumn) {
  EXPECT_EQ(drawn("e\u0301: 1", 5, 1), "e\u0301: 1\n"
                                       "   ^");
}

TEST(Snippet, NeverSendsControlsToTheTerminal) {
  EXPECT_EQ(snippet("a\x1b[31mb\xff", 1, 1).text, "a\uFFFD[31mb\uFFFD");
}

TEST(Snippet, ALineWithoutCharactersHasAPlaceBehindIt) {
  EXPECT_EQ(drawn("", 1, 1), "\n^");
  EXPECT_EQ(drawn("abc", 99, 5), "abc\n   ^");
}

TEST(Snippet, ShowsTheWindowOfALongLineThatHoldsTheUnderline) {
  const std::string before(300, '<'), after(300, '>');
  const Snippet shown = snippet(before + "HERE" + after, 301, 4);
  EXPECT_EQ(shown.text, "…" + std::string(40, '<') + "HERE" + std::string(66, '>') + "…");
  EXPECT_EQ(shown.underline, 41);
  EXPECT_EQ(shown.width, 4);
}

TEST(Snippet, CutsTheEndOfALongLineWhoseStartIsUnderlined) {
  const Snippet shown = snippet("HERE" + std::string(300, '>'), 1, 4);
  EXPECT_EQ(shown.text, "HERE" + std::string(106, '>') + "…");
  EXPECT_EQ(shown.underline, 0);
}

TEST(Snippet, AnUnderlineEndsWhereTheWindowEnds) {
  const Snippet shown = snippet(std::string(500, 'x'), 1, 500);
  EXPECT_EQ(shown.text, std::string(110, 'x') + "…");
  EXPECT_EQ(shown.width, 110);
}

TEST(Snippet, LooksAtNoMoreOfAnEndlessLineThanItShows) {
  const std::string line = std::string(1'000'000, '<') + "HERE" + std::string(1'000'000, '>');
  const Snippet shown = snippet(line, 1'000'001, 4);
  EXPECT_EQ(shown.text, "…" + std::string(40, '<') + "HERE" + std::string(66, '>') + "…");
  EXPECT_EQ(shown.underline, 41);
}

TEST(Utf8, RefusesWhatIsNoCharacter) {
  EXPECT_FALSE(characterAt("\xC0\xAF").legal);         // overlong
  EXPECT_FALSE(characterAt("\xED\xA0\x80").legal);     // a surrogate
  EXPECT_FALSE(characterAt("\xF4\x90\x80\x80").legal); // beyond U+10FFFF
  EXPECT_FALSE(characterAt("\xE2\x82").legal);         // cut off
  EXPECT_TRUE(characterAt("\xE2\x82\xAC").legal);      // €
  EXPECT_EQ(characterCount("a€\xFF"), 3u);
}

} // namespace
} // namespace vime
