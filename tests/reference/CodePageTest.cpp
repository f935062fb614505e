#include "compiler/Reference/CodePage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "compiler/Driver/JobMachine.h"
#include "compiler/Driver/JobText.h"
#include "compiler/Frontend/ReadJob.h"

namespace vime {
namespace {

// A folder with what the examples name: a text, a short one, a checkpoint and tables of orders.
class JobExamples : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("vime-examples-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder / "checkpoint");
    write("corpus.txt", std::string(1 << 20, 'a'));
    write("train.jsonl", "{\"prompt\": \"12+7=\", \"answer\": \"19\"}\n");
    write("module.pt", "hashed, not read");
    write("short.txt", "a text of a few words");
    std::filesystem::create_directories(folder / "orders");
    write("orders/mine.csv", "0F0,0B0\n1F0,1B0\n2F0,2B0\n3F0,3B0\n");
    write("orders/typo.csv", "0F0,0B0\n1F0,1B0\n2F0,2BO\n3F0,3B0\n");
    write("checkpoint/config.json", R"({"model_type": "llama", "hidden_size": 64,
      "intermediate_size": 172, "num_hidden_layers": 8, "num_attention_heads": 4,
      "num_key_value_heads": 2, "vocab_size": 256, "rms_norm_eps": 1e-6,
      "tie_word_embeddings": false})");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::vector<int> codesOf(const std::string &text) const {
    Findings findings;
    if (const auto job = readJob(text, (folder / "job.yaml").string(), findings)) {
      SourceCache sources;
      readTextFacts(*job, findings);
      readJobMachine(*job, findings, sources);
    }
    std::vector<int> codes;
    for (const Finding &finding : findings.all())
      codes.push_back(finding.number);
    return codes;
  }

private:
  void write(const std::string &name, const std::string &text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  std::filesystem::path folder;
};

TEST_F(JobExamples, TheSampleIsALegalJob) {
  EXPECT_TRUE(codesOf(std::string(sampleJob())).empty());
  EXPECT_TRUE(codesOf(std::string(sampleRoundsJob())).empty());
}

TEST_F(JobExamples, WrongLinesHaveTheirCode) {
  for (const JobExample &example : jobExamples())
    EXPECT_EQ(codesOf(sampleJobWith(example.wrong, example.ofRounds)),
              std::vector{number(example.code)})
        << codePage(codeOf(Rule::J, number(example.code))).value_or("");
}

TEST_F(JobExamples, RightLinesHaveNone) {
  for (const JobExample &example : jobExamples())
    EXPECT_TRUE(codesOf(sampleJobWith(example.right, example.ofRounds)).empty()) << example.right;
}

TEST(CodePage, EveryCodeHasOne) {
  for (const std::string &code : allCodes()) {
    const auto page = codePage(code);
    ASSERT_TRUE(page) << code << " has no example: add it to compiler/Reference/"
                      << (code.starts_with("J") ? "JobExamples.cpp" : "PlanExamples.cpp");
    EXPECT_TRUE(page->ends_with('\n') && !page->ends_with("help: \n"))
        << code << ": its rule has no remedy in PlanExamples.cpp";
    EXPECT_TRUE(isCode(code));
  }
}

TEST(CodePage, NoExampleIsOfACodeThatThereIsNot) {
  const std::vector<std::string> codes = allCodes();
  const auto exists = [&](const std::string &code) {
    return std::count(codes.begin(), codes.end(), code) == 1;
  };
  for (const JobExample &example : jobExamples())
    EXPECT_TRUE(exists(codeOf(Rule::J, number(example.code))));
  for (const PlanExample &example : planExamples())
    EXPECT_TRUE(exists(codeOf(example.rule, example.number)))
        << codeOf(example.rule, example.number);
}

TEST(CodePage, AJobCode) {
  EXPECT_EQ(codePage("J0022"), R"(J0022: a number is too small or too large

  for example:

    run:       {steps: 0}

  right would be:

    run:       {steps: 1}

  help: stay in the range that the message names
)");
}

TEST(CodePage, APlanCode) {
  EXPECT_EQ(codePage("c0207"), R"(C0207: ranks wait for each other in a circle

  for example:

    rank 0: send a, receive b; rank 1: send b, receive a

  help: move one action of the cycle that the message shows
)");
}

TEST(CodePage, UnknownCodes) {
  EXPECT_FALSE(codePage("J0999"));
  EXPECT_FALSE(codePage("pipeline"));
  EXPECT_TRUE(isCode("J0999"));
  EXPECT_FALSE(isCode("J099"));
  EXPECT_FALSE(isCode("10999"));
}

} // namespace
} // namespace vime
