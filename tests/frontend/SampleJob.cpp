#include "tests/frontend/SampleJob.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/ReadJob.h"

namespace vime {

std::string sampleText() {
  return R"(version: 1
cluster:   {ranks: 4}
models:
  policy:  {family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256}
roles:
  actor:   {model: policy}
pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples}
data:      {text: corpus.txt, sequence: 128 tokens}
optimizer: {lr: 3.0e-4}
run:       {steps: 200}
)";
}

std::string sampleRoundsText() {
  return R"(version: 1
cluster:   {ranks: 6}
models:
  policy:  {family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256}
roles:
  actor:   {model: policy, ranks: 0-3, parallel: {dp: 2}}
  rollout: {ranks: 4-5}
pipeline:  {schedule: 1f1b, microbatch: 200 tokens}
batch:     {prompts: 16, samples_per_prompt: 8, global: 64 samples}
data:      {prompts: train.jsonl, max_prompt: 40 tokens}
rollout:   {max_new: 24 tokens}
reward:    {rule: exact-answer}
optimizer: {lr: 1.0e-4}
run:       {rounds: 40}
)";
}

std::string sampleWith(std::string_view what, std::string_view by) {
  std::string text = sampleText();
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

Job legalJob(const std::string &text, const std::string &file) {
  SourceCache sources;
  sources.add(file, text);
  Findings findings;
  std::optional<Job> job = readJob(text, file, findings);
  EXPECT_TRUE(job) << renderText(findings, sources);
  return job ? *job : Job();
}

std::string codesOf(const std::string &text) {
  Findings findings;
  const bool legal = readJob(text, "job.yaml", findings).has_value();
  EXPECT_EQ(legal, !findings.any());
  std::string codes;
  for (const Finding &finding : findings.all())
    codes += (codes.empty() ? "" : " ") + codeOf(finding.rule, finding.number);
  return codes;
}

std::string contentsOf(const std::filesystem::path &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

std::string exampleText(const std::filesystem::path &job) {
  std::string text = contentsOf(job);
  constexpr std::string_view kCheckpoint = "checkpoint: out/warm-start";
  const std::size_t at = text.find(kCheckpoint);
  if (at == std::string::npos)
    return text;
  const std::string first = contentsOf(job.parent_path() / "warm-start.yaml");
  const std::size_t sizes = first.find("family:"), end = first.find(", dtype", sizes);
  EXPECT_NE(end, std::string::npos) << job;
  return text.replace(at, kCheckpoint.size(), first.substr(sizes, end - sizes));
}

std::vector<std::filesystem::path> exampleJobs() {
  std::vector<std::filesystem::path> jobs;
  for (const auto &example : std::filesystem::directory_iterator(VIME_EXAMPLES))
    if (std::filesystem::exists(example.path() / "job.yaml"))
      jobs.push_back(example.path() / "job.yaml");
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

} // namespace vime
