#include <gtest/gtest.h>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/SourceCache.h"

namespace vime {
namespace {

SourceCache jobAndOrder() {
  SourceCache sources;
  std::string job;
  for (int line = 1; line < 14; ++line)
    job += "#\n";
  sources.add("job.yaml", job + "  policy: {dtype: bfloat16}\r\n");
  sources.add("order.csv", "0F0,0F1\n");
  return sources;
}

TEST(RenderText, BothEndsOfAContradiction) {
  Findings findings;
  findings.error(Rule::C1, 2, "message 3 is sent as float32 and received as bfloat16")
      .at({"job.yaml", 14, 19, 8}, "rank 2 takes its type from here")
      .from({1, 17}, "send forward, stage 1, microbatch 3")
      .to({2, 12}, "receive forward, stage 2, microbatch 3")
      .withHelp("give both stages one `dtype`");
  EXPECT_EQ(renderText(findings, jobAndOrder()),
            R"(error[C0102]: message 3 is sent as float32 and received as bfloat16
  --> job.yaml:14:19
   |
14 |   policy: {dtype: bfloat16}
   |                   ^^^^^^^^ rank 2 takes its type from here
   = from rank 1, action 17: send forward, stage 1, microbatch 3
   = to   rank 2, action 12: receive forward, stage 2, microbatch 3
   = help: give both stages one `dtype`
)");
}

TEST(RenderText, NotesWithAPlaceShowTheirLine) {
  Findings findings;
  findings.error(Rule::S3, 1, "stage 0 lives on two ranks")
      .at({"order.csv", 1, 5, 3})
      .note("this pipeline", SourceSpan{"job.yaml", 14, 3, 6})
      .note("a stage has one home");
  EXPECT_EQ(renderText(findings, jobAndOrder()), R"(error[S0301]: stage 0 lives on two ranks
  --> order.csv:1:5
   |
 1 | 0F0,0F1
   |     ^^^
   = note: a stage has one home
note: this pipeline
  --> job.yaml:14:3
   |
14 |   policy: {dtype: bfloat16}
   |   ^^^^^^
)");
}

TEST(RenderText, APlaceWhoseTextIsNotThereIsNamedAllTheSame) {
  Findings findings;
  findings.error(Rule::J, 1, "gone").at({"other.yaml", 3, 1}, "the label");
  findings.error(Rule::J, 1, "beyond the end").at({"order.csv", 30, 1});
  findings.error(Rule::J, 1, "a whole file").at({.file = "other.yaml"});
  findings.error(Rule::M1, 1, "no place at all").note("first line\nsecond line");
  EXPECT_EQ(renderText(findings, jobAndOrder()), R"(error[J0001]: gone
 --> other.yaml:3:1
  = note: the label

error[J0001]: beyond the end
  --> order.csv:30:1

error[J0001]: a whole file
 --> other.yaml

error[M0101]: no place at all
  = note: first line
          second line
)");
}

TEST(RenderText, AnActionWithoutAnEnd) {
  Findings findings;
  findings.error(Rule::C2, 1, "these wait for each other").notes = {
      {.text = "waits for the next", .action = ActionPlace{0, 12}}, {.action = ActionPlace{3, 4}}};
  EXPECT_EQ(renderText(findings, jobAndOrder()), R"(error[C0201]: these wait for each other
  = rank 0, action 12: waits for the next
  = rank 3, action 4
)");
}

TEST(RenderText, ColourOnlyPaints) {
  Findings findings;
  findings.error(Rule::J, 20, "wrong").at({"job.yaml", 14, 3, 6}, "here").withHelp("repair it");
  std::string text = renderText(findings, jobAndOrder(), /*colour=*/true);
  EXPECT_NE(text.find("\033[1;31merror[J0020]\033[0m"), std::string::npos) << text;
  for (std::size_t escape; (escape = text.find('\033')) != std::string::npos;)
    text.erase(escape, text.find('m', escape) - escape + 1);
  EXPECT_EQ(text, renderText(findings, jobAndOrder()));
}

TEST(RenderText, WordsOfAUserCannotSteerTheTerminal) {
  Findings findings;
  findings.error(Rule::J, 12, "unknown key `\x1b[2J`").withHelp("\x1b]0;title\x07");
  EXPECT_EQ(renderText(findings, SourceCache()), "error[J0012]: unknown key `\uFFFD[2J`\n"
                                                 "  = help: \uFFFD]0;title\uFFFD\n");
}

TEST(RenderText, NothingFoundIsNoText) { EXPECT_EQ(renderText(Findings(), SourceCache()), ""); }

TEST(SourceCache, HasLinesWithoutBreaksAndByteOrderMark) {
  SourceCache sources;
  sources.add("a", "\xEF\xBB\xBFone\r\ntwo\n");
  EXPECT_EQ(sources.line("a", 1), "one");
  EXPECT_EQ(sources.line("a", 2), "two");
  EXPECT_EQ(sources.line("a", 3), "");
  EXPECT_EQ(sources.line("a", 4), std::nullopt);
  EXPECT_EQ(sources.line("a", 0), std::nullopt);
  EXPECT_EQ(sources.line("b", 1), std::nullopt);
  EXPECT_FALSE(sources.load("/nowhere/at/all"));
}

} // namespace
} // namespace vime
