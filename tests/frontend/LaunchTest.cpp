// Launch lines of vime and slime as jobs.
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Frontend/ImportLaunch.h"
#include "compiler/Frontend/ReadJob.h"
#include "tests/frontend/SampleJob.h"

namespace vime {
namespace {

namespace fs = std::filesystem;

std::string flagsOf(std::string_view text) {
  std::string list;
  for (const LaunchFlag &flag : readLaunch(text).flags) {
    list += (list.empty() ? "" : " ") + flag.name + '@' + std::to_string(flag.line);
    for (const std::string &value : flag.values)
      list += '=' + value;
  }
  return list;
}

TEST(LaunchLine, IsSplitAsAShellDoesIt) {
  EXPECT_EQ(flagsOf("python3 train.py --one 1 --two \\\n  --three=3 'a b'"),
            "one@1=1 two@1 three@2=3");
  EXPECT_EQ(flagsOf("A=( # nothing --here\n --top_k -1\n)\nB=(--last)\nrun ${A[@]} x"),
            "top-k@2=-1 last@4");
  EXPECT_EQ(flagsOf("X=7; run --name \"a $X b\" --other ${X} --env ${Y}"),
            "name@1=a 7 b other@1=7 env@1=${Y}");
  EXPECT_EQ(flagsOf("--list 1 2 3 && other 4"), "list@1=1=2=3");
  EXPECT_EQ(flagsOf("--empty '' -- --open \"x"), "empty@1= open@1=x");
  EXPECT_EQ(readLaunch("python3 train_async.py --x").programs,
            std::vector<std::string>{"train_async.py"});
  EXPECT_FALSE(isLaunch("0F0,0B0\n1F0,1B0\n"));
  EXPECT_FALSE(isLaunch("echo -- '--'"));
}

TEST(ImportLaunch, AScriptAsAJob) {
  const ImportedJob job =
      importLaunch(readLaunch(contentsOf(fs::path(VIME_LAUNCHES) / "grpo.sh")), "grpo");
  EXPECT_EQ(job.text, contentsOf(fs::path(VIME_LAUNCHES) / "grpo.yaml"));
  std::string notes;
  for (const std::string &note : job.notes)
    notes += note.substr(0, note.find(" is ")) + ' ';
  EXPECT_EQ(notes, "`--rm-type deepscaler` `--ref-load` `--apply-chat-template` `--balance-data` "
                   "`--eval-max-response-len` `--address` `--runtime-env-json` ");
}

TEST(ImportLaunch, AModelOfFlags) {
  const auto textOf = [](const std::string &flags) {
    return importLaunch(readLaunch("--num-layers 8 --hidden-size 64 " + flags), "x").text;
  };
  EXPECT_NE(textOf("--qk-layernorm").find("family: qwen3"), std::string::npos);
  EXPECT_NE(textOf("--add-qkv-bias").find("family: qwen2"), std::string::npos);
  EXPECT_NE(textOf("").find("tied: true"), std::string::npos);
  EXPECT_NE(textOf("--untie-embeddings-and-output-weights").find("tied: false"), std::string::npos);
  EXPECT_NE(textOf("--pipeline-model-parallel-size 2 --decoder-last-pipeline-num-layers 3")
                .find("layout: [5, 3]"),
            std::string::npos);
}

TEST(ImportLaunch, ALineThatSaysEverythingIsALegalJob) {
  const ImportedJob job = importLaunch(
      readLaunch("python3 train.py --actor-num-gpus-per-node 2 --pipeline-model-parallel-size 2 "
                 "--rollout-num-gpus 2 --num-layers 8 --hidden-size 64 --num-attention-heads 4 "
                 "--ffn-hidden-size 172 --vocab-size 256 --swiglu --qk-layernorm "
                 "--untie-embeddings-and-output-weights --prompt-data train.jsonl "
                 "--rollout-max-prompt-len 40 --rollout-max-response-len 24 --rm-url "
                 "http://127.0.0.1:8000/score --rollout-batch-size 16 --n-samples-per-prompt 8 "
                 "--num-steps-per-rollout 2 --max-tokens-per-gpu 512 --num-rollout 40 "
                 "--advantage-estimator gspo --eps-clip 2e-4 --lr 1e-6 --seed 7"),
      "all");
  EXPECT_TRUE(job.notes.empty()) << job.notes.front();
  const Job read = legalJob(job.text);
  EXPECT_EQ(read.batch.global.value, 64u);
  EXPECT_EQ(read.algorithm.loss.value, "gspo");
  EXPECT_EQ(read.run.seed.value, 7u);
}

using Row = std::map<std::string, std::string>;

std::vector<Row> recipes() {
  std::istringstream lines(contentsOf(fs::path(VIME_LAUNCHES) / "recipes.csv"));
  const auto cells = [](const std::string &line) {
    std::vector<std::string> all(1);
    for (const char letter : line)
      if (letter == ',')
        all.emplace_back();
      else
        all.back() += letter;
    return all;
  };
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> keys = cells(line);
  std::vector<Row> rows;
  while (std::getline(lines, line)) {
    rows.emplace_back();
    const std::vector<std::string> values = cells(line);
    for (std::size_t column = 0; column < keys.size(); ++column)
      if (!values[column].empty())
        rows.back()[keys[column]] = values[column];
  }
  return rows;
}

std::string launchOf(const Row &row) {
  std::string line = row.contains("fully_async") ? "python3 train_async.py" : "python3 train.py";
  for (const auto &[key, value] : row)
    if (key == "weight_sync")
      line += " --update-weight-mode " + value;
    else if (key != "recipe" && key != "model" && key != "fully_async")
      line += " --" + key + (value == "yes" ? "" : ' ' + value);
  return line;
}

/// The flags of a row that no job can carry.
std::set<std::string> expectedNotes(const Row &row) {
  std::set<std::string> flags;
  for (const char *size :
       {"tensor-model-parallel-size", "context-parallel-size", "expert-model-parallel-size",
        "expert-tensor-parallel-size", "rollout-num-gpus-per-engine"})
    if (row.contains(size) && row.at(size) != "1")
      flags.insert(std::string("`--") + size + '`');
  for (const char *flag : {"colocate", "optimizer-cpu-offload", "over-sampling-batch-size",
                           "decoder-last-pipeline-num-layers"})
    if (row.contains(flag))
      flags.insert(std::string("`--") + flag + '`');
  if (row.contains("weight_sync"))
    flags.insert("`--update-weight-mode`");
  if (row.contains("fully_async"))
    flags.insert("`train_async.py`");
  return flags;
}

// What is carried is legal as far as it goes; what is not is named, flag by flag.
TEST(ImportLaunch, EveryRecipe) {
  const std::vector<Row> rows = recipes();
  EXPECT_EQ(rows.size(), 30u);
  for (const Row &row : rows) {
    const ImportedJob job = importLaunch(readLaunch(launchOf(row)), "recipe");
    std::set<std::string> named;
    for (const std::string &note : job.notes)
      named.insert(note.substr(0, note.find(" is left out")));
    EXPECT_EQ(named, expectedNotes(row)) << row.at("recipe");
    Findings findings;
    readJob(job.text, "job.yaml", findings);
    for (const Finding &finding : findings.all())
      EXPECT_TRUE(finding.number == number(JobCode::MissingKey) ||
                  finding.number == number(JobCode::LaterValue) ||
                  finding.number == number(JobCode::MicrobatchTokens) ||
                  finding.number == number(JobCode::UnusedValue))
          << row.at("recipe") << ": " << finding.message << "\n"
          << job.text;
  }
}

} // namespace
} // namespace vime
