#include "tests/Memory/TrainingJob.h"

#include <cstdlib>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Lowering/FinishPlan.h"
#include "compiler/Lowering/LowerCommunication.h"
#include "compiler/Lowering/PlanMemory.h"
#include "compiler/Lowering/StepFamily.h"
#include "runtime/Base/FileHash.h"
#include "runtime/Exec/LocalRun.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

namespace fs = std::filesystem;

std::string textOf(const TrainingShape &shape) {
  std::string text = fmt::format(
      "version: 1\n"
      "cluster: {{ranks: {}}}\n"
      "models: {{tiny: {{layers: 8, hidden: 16, heads: 2, ffn: 24, vocab: 256, {}}}}}\n"
      "roles: {{actor: {{model: tiny, parallel: {{pp: {}, dp: {}}}}}}}\n"
      "pipeline: {{schedule: {}, microbatches: {}, microbatch: 2 samples{}}}\n"
      "data: {{text: corpus.txt, sequence: 8 tokens, tail: {}}}\n"
      "optimizer: {{lr: 1.0e-2}}\n"
      "run: {{steps: {}, seed: 7{}}}\n",
      shape.ranks * shape.replicas, shape.model, shape.ranks, shape.replicas, shape.schedule,
      shape.microbatches, shape.slices > 1 ? fmt::format(", slices: {}", shape.slices) : "",
      shape.hasShortSteps ? "short" : "join", shape.steps, shape.exports ? ", export: out" : "");
  if (shape.recomputes)
    text += "memory: {recompute: layer}\n";
  if (shape.saves)
    text += "checkpoint: {dir: saved, every: 1 step}\n";
  if (shape.evaluates)
    text += "eval: {text: held-out.txt, every: 1 step, microbatches: 3}\n";
  return text;
}

void writeText(const fs::path &path, int bytes) {
  std::ofstream file(path);
  for (int index = 0; index < bytes; ++index)
    file << static_cast<char>('a' + index * index % 23);
}

/// Of an epoch of two steps and, where there are short ones, a half.
int textBytes(const TrainingShape &shape) {
  const int step = shape.replicas * shape.microbatches * 2; // samples, of 8 bytes and the next one
  return (shape.hasShortSteps ? 2 * step + step / 2 : 8 * step) * 9;
}

std::optional<plan::Plan> planOf(const Job &job, const TextFacts &facts, Findings &findings) {
  const auto order = buildOrder(job, findings);
  if (!order)
    return std::nullopt;
  auto plan = lowerCommunication(job, *order, stepFamily(job, facts.bytes), findings);
  if (!plan || !planMemory(*plan, capsOf(job), mostMicrobatches(job)))
    return std::nullopt;
  finishPlan(*plan, job, facts, "test");
  return plan;
}

class Listener final : public RunObserver {
public:
  void stepFinished(const StepRecord &record, std::span<const plan::RankStats>) override {
    outcome.losses.push_back(record.loss);
    outcome.norms.push_back(record.gradientNorm);
  }
  void evaluated(const EvaluationRecord &record) override {
    outcome.evaluations.push_back(record.loss);
  }
  void exported() override { ++outcome.exports; }
  void saved(std::uint64_t steps) override { outcome.saved.push_back(steps); }
  Outcome outcome;
};

} // namespace

TrainingJob::TrainingJob(const TrainingShape &shape) {
  std::string pattern = fs::temp_directory_path() / "vime-memory-XXXXXX";
  folder = mkdtemp(pattern.data());
  writeText(folder / "corpus.txt", textBytes(shape));
  writeText(folder / "held-out.txt", 200);
  const std::string text = textOf(shape);
  Findings findings;
  SourceCache sources;
  sources.add("job.yaml", text);
  const FileFingerprint corpus = *hashFile(folder / "corpus.txt"),
                        heldOut = *hashFile(folder / "held-out.txt");
  const std::optional<Job> job = readJob(text, "job.yaml", findings);
  if (job)
    if (auto made =
            planOf(*job, {corpus.bytes, corpus.hash, heldOut.bytes, heldOut.hash}, findings))
      plan = std::move(*made);
  EXPECT_FALSE(plan.programs.empty()) << renderText(findings, sources) << text;
}

TrainingJob::~TrainingJob() { fs::remove_all(folder); }

Outcome TrainingJob::run(const plan::Plan &changed, const RankProbe *probe) const {
  const fs::path here = folder / std::to_string(runs++);
  fs::create_directory(here);
  for (const char *name : {"corpus.txt", "held-out.txt"})
    fs::copy_file(folder / name, here / name);
  Listener listener;
  const Status status =
      runLocal(changed, plan::planId(changed), {.base = here, .probe = probe}, listener);
  EXPECT_TRUE(status.ok()) << status.message();
  return listener.outcome;
}

} // namespace vime
