// Whatever the bytes of a file: a job or findings that can be drawn, in little time.
#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/Fields.h"
#include "compiler/Frontend/ReadJob.h"
#include "tests/frontend/SampleJob.h"

namespace vime {
namespace {

// Reads the text and shows everything about it; true if it is a legal job.
bool survives(const std::string &text) {
  SourceCache sources;
  sources.add("job.yaml", text);
  Findings findings;
  const std::optional<Job> job = readJob(text, "job.yaml", findings);
  EXPECT_EQ(job.has_value(), !findings.any()) << text;
  if (job)
    EXPECT_EQ(codesOf(resolvedText(*job)), "") << text;
  else
    EXPECT_NE(renderText(findings, sources), "");
  for (const Finding &finding : findings.all())
    EXPECT_EQ(finding.span.file, "job.yaml") << finding.message;
  return job.has_value();
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const auto &path : exampleJobs())
    texts.push_back(exampleText(path));
  texts.push_back(resolvedText(legalJob(sampleText())));
  texts.push_back(sampleRoundsText() + R"(algorithm: {loss: gspo, clip: 0.1, kl: {coef: 0.01}}
eval:      {prompts: held-out.jsonl, every: 5 rounds, samples: 2 samples}
checkpoint: {dir: out, every: 2 steps}
)");
  texts.back().insert(texts.back().find("  rollout:"), "  ref:     {like: actor}\n");
  return texts;
}

TEST(Robustness, EveryTruncation) {
  for (const std::string &text : seeds())
    for (std::size_t size = 0; size < text.size(); ++size)
      survives(text.substr(0, size));
}

TEST(Robustness, FlippedBytes) {
  std::mt19937 random(7);
  for (const std::string &text : seeds())
    for (int round = 0; round < 400; ++round) {
      std::string damaged = text;
      for (int flips = 0; flips <= round % 4; ++flips)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      survives(damaged);
    }
}

// Bytes that mean something to YAML find more than random ones.
TEST(Robustness, MisplacedPunctuation) {
  constexpr std::string_view kMarks = "{}[],:-?&*!|>'\"%@`#\n \t~<=.0";
  std::mt19937 random(11);
  for (const std::string &text : seeds())
    for (int round = 0; round < 250; ++round) {
      std::string damaged = text;
      for (int insertions = 0; insertions <= round % 3; ++insertions)
        damaged.insert(random() % damaged.size(), 1, kMarks[random() % kMarks.size()]);
      survives(damaged);
    }
}

TEST(Robustness, SwappedPieces) {
  std::mt19937 random(13);
  for (const std::string &text : seeds())
    for (int round = 0; round < 200; ++round) {
      const std::size_t from = random() % text.size(), length = random() % 40;
      std::string damaged = text;
      damaged.insert(random() % text.size(), text.substr(from, length));
      survives(damaged);
    }
}

std::string repeated(std::string_view part, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes)
    text += part;
  return text;
}

TEST(Robustness, ErrorsWithoutEndAreCut) {
  Findings findings;
  EXPECT_FALSE(readJob(repeated("a: {}\n", 100'000), "job.yaml", findings));
  ASSERT_EQ(findings.size(), 201u);
  EXPECT_EQ(findings.all().back().message, "more than 200 errors; the others are not listed");
}

TEST(Robustness, MonstersAreRefusedInLittleTime) {
  constexpr std::size_t kSize = 100'000;
  const auto start = std::chrono::steady_clock::now();
  for (const std::string_view part :
       {"[",     "{",      "- ",  "a: ", "a:\n",  "? ",        "{a: [", "\n",  " ",
        "a",     "a,",     "[a,", "'",   "\"",    "|\n",       "&a ",   "*a ", "!a ",
        "- a\n", "a: b\n", "#",   "%",   "---\n", "\"\\u00e9", "{a,",   ": ",  "x: {}\n"})
    EXPECT_FALSE(survives(repeated(part, kSize))) << part;
  EXPECT_FALSE(survives("run: {" + repeated("a: 1, ", kSize) + "}"));
  EXPECT_FALSE(survives("run: [" + repeated("a, ", kSize) + "]"));
  EXPECT_FALSE(survives("run: {steps: " + repeated("9", kSize) + "}"));
  EXPECT_FALSE(survives(std::string(10'000'000, 'a')));
  EXPECT_FALSE(survives(std::string(1000, '\0')));
  // A hang would take minutes; this bound is far above what a slow machine needs.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

} // namespace
} // namespace vime
