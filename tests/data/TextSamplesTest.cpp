// TextSamples: what of a text is a sample, byte by byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Data/TextSamples.h"

namespace vime {
namespace {

using plan::Split;
using testing::ElementsAre;
using testing::IsEmpty;

struct Cut {
  std::vector<std::string> texts; // of each sample: its tokens and its last label
  std::uint64_t leftOut;
};

Cut cut(const std::string &text, Split split, std::uint32_t sequence = 100) {
  const auto samples = TextSamples::cut(std::as_bytes(std::span(text)), split, sequence);
  Cut found{{}, samples.leftOut()};
  for (std::uint64_t sample = 0; sample < samples.count(); ++sample) {
    const auto [first, tokens] = samples.at(sample);
    EXPECT_GE(tokens, 1u);
    EXPECT_LE(tokens, sequence);
    found.texts.push_back(text.substr(first, tokens + 1));
  }
  return found;
}

TEST(TextSamples, WindowsLieSideBySide) {
  EXPECT_THAT(cut("abcdefghij", Split::Window, 3).texts, ElementsAre("abcd", "efgh"));
  EXPECT_EQ(cut("abcdefghij", Split::Window, 3).leftOut, 2u);
}

TEST(TextSamples, ALineEndsWithItsEnd) {
  EXPECT_THAT(cut("one\ntwo\r\nthree", Split::Line).texts,
              ElementsAre("one\n", "two\r\n", "three"));
  EXPECT_EQ(cut("one\ntwo\r\nthree", Split::Line).leftOut, 0u);
}

TEST(TextSamples, EmptyLinesAreNoSamples) {
  const Cut found = cut("\n\none\n\r\n\ntwo\n\n", Split::Line);
  EXPECT_THAT(found.texts, ElementsAre("one\n", "two\n"));
  EXPECT_EQ(found.leftOut, 6u);
}

TEST(TextSamples, AByteAloneHasNoLabel) {
  EXPECT_THAT(cut("x", Split::Line).texts, IsEmpty());
  EXPECT_EQ(cut("x", Split::Line).leftOut, 1u);
  EXPECT_THAT(cut("ab\nx", Split::Line).texts, ElementsAre("ab\n"));
  EXPECT_THAT(cut("", Split::Line).texts, IsEmpty());
  EXPECT_THAT(cut("\n", Split::Paragraph).texts, IsEmpty());
}

TEST(TextSamples, AParagraphEndsAtAnEmptyLine) {
  const Cut found = cut("\na\nb\n\n\r\nc\nd", Split::Paragraph);
  EXPECT_THAT(found.texts, ElementsAre("a\nb\n", "c\nd"));
  EXPECT_EQ(found.leftOut, 4u);
}

TEST(TextSamples, ALongLineIsCutSoThatEveryByteBehindTheFirstIsALabelOnce) {
  EXPECT_THAT(cut("abcdefgh\nij\n", Split::Line, 3).texts,
              ElementsAre("abcd", "defg", "gh\n", "ij\n"));
  EXPECT_THAT(cut("abcdefg", Split::Line, 3).texts, ElementsAre("abcd", "defg"));
  EXPECT_THAT(cut("abc\n\ndef\n", Split::Paragraph, 2).texts,
              ElementsAre("abc", "c\n", "def", "f\n"));
}

} // namespace
} // namespace vime
