#include <gtest/gtest.h>

#include "compiler/Frontend/Document.h"
#include "tests/frontend/SampleJob.h"

namespace vime {
namespace {

Node documentOf(const std::string &text) {
  Findings findings;
  std::optional<Node> root = readDocument(text, "job.yaml", findings);
  EXPECT_TRUE(root && !findings.any()) << text;
  return root ? *root : Node();
}

// `line:column+length` of a value.
std::string place(const Node &node) {
  return std::to_string(node.span.line) + ':' + std::to_string(node.span.column) + '+' +
         std::to_string(node.span.length);
}

TEST(ReadDocument, PlacesCountCharactersFromOne) {
  const Node root = documentOf("größe: {a: 12, \"ü\": 'x y', c: [1, 2]}\n");
  EXPECT_EQ(root.entries[0].keySpan, (SourceSpan{"job.yaml", 1, 1, 5}));
  const std::vector<Entry> &entries = root.entries[0].value.entries;
  EXPECT_EQ(place(entries[0].value), "1:12+2");
  EXPECT_EQ(entries[1].keySpan.length, 3) << "with its quotes";
  EXPECT_EQ(place(entries[1].value), "1:21+5");
  EXPECT_EQ(place(entries[2].value), "1:31+6");
}

TEST(ReadDocument, NullIsAWordAndNothingIsNothing) {
  const Node root = documentOf("a: null\nb: ~\nc:\nd: 'null'\n");
  EXPECT_EQ(root.entries[0].value.text, "null");
  EXPECT_EQ(root.entries[0].value.kind, Node::Kind::Scalar);
  EXPECT_EQ(root.entries[1].value.kind, Node::Kind::Empty);
  EXPECT_EQ(root.entries[2].value.kind, Node::Kind::Empty);
  EXPECT_EQ(root.entries[2].value.span.line, 3) << "where it is missing";
  EXPECT_TRUE(root.entries[3].value.quoted);
}

TEST(ReadDocument, ListsOfScalarsHaveAText) {
  EXPECT_EQ(documentOf("betas: [0.9,  0.95]\n").entries[0].value.text, "[0.9, 0.95]");
  EXPECT_EQ(documentOf("betas:\n- 0.9\n- 0.95\n").entries[0].value.text, "[0.9, 0.95]");
  EXPECT_EQ(documentOf("betas: []\n").entries[0].value.text, "[]");
}

TEST(ReadDocument, JsonIsYaml) {
  std::string text = sampleText();
  const Job job = legalJob(R"({"version": 1, "cluster": {"ranks": 4},
  "models": {"policy": {"family": "llama", "layers": 8, "hidden": 64, "heads": 4, "ffn": 172, "vocab": 256}},
  "roles": {"actor": {"model": "policy"}},
  "pipeline": {"schedule": "1f1b", "microbatches": 8, "microbatch": "4 samples"},
  "data": {"text": "corpus.txt", "sequence": "128 tokens"}, "optimizer": {"lr": 3.0e-4}, "run": {"steps": 200}})");
  EXPECT_EQ(job.pipeline.microbatch.value, (Quantity{4, false}));
}

TEST(ReadDocument, EditorsOfAllSystems) {
  EXPECT_EQ(codesOf("\xEF\xBB\xBF" + sampleText()), "") << "byte order mark";
  std::string text = sampleText();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.insert(at, "\r");
  EXPECT_EQ(codesOf(text), "") << "CRLF";
  EXPECT_EQ(codesOf("---\n" + sampleText() + "...\n"), "") << "marks of one document";
  text = sampleText();
  text.pop_back();
  EXPECT_EQ(codesOf(text), "") << "no last line break";
}

TEST(ReadDocument, PlacesAreRightBehindAByteOrderMark) {
  Findings findings;
  readDocument("\xEF\xBB\xBF"
               "a: 1\n"
               "b: &x 2\n",
               "job.yaml", findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.all()[0].span, (SourceSpan{"job.yaml", 2, 4, 2}));
}

TEST(ReadDocument, EveryDuplicateIsReported) {
  Findings findings;
  const auto root = readDocument("a: 1\na: 2\nb: {c: 1, c: 2}\na: 3\n", "job.yaml", findings);
  ASSERT_TRUE(root);
  EXPECT_EQ(findings.size(), 3u);
  EXPECT_EQ(root->entries.size(), 2u);
  EXPECT_EQ(root->entries[0].value.text, "1") << "the first one stays";
}

TEST(CheckText, OneErrorALine) {
  Findings findings;
  EXPECT_FALSE(checkText("a:\n\t\tb: \x01\nc: \xFF\xFE\nd: 1\t# a tab behind a value is legal\n",
                         "job.yaml", findings));
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings.all()[0].span, (SourceSpan{"job.yaml", 2, 1, 1}));
  EXPECT_EQ(findings.all()[1].span, (SourceSpan{"job.yaml", 3, 4, 1}));
}

} // namespace
} // namespace vime
