// compileJob: a job through all phases. By way of the IR nothing is lost, and every action leads to
// the user's line.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Lowering/LowerCommunication.h"
#include "compiler/Lowering/PlanMemory.h"
#include "compiler/Lowering/ReceiveSlotsOfJob.h"
#include "compiler/Phases/Phases.h"
#include "tests/dialects/RandomPlan.h"

namespace vime {
namespace {

constexpr TextFacts kText{.bytes = 100000, .hash = {7, 8}};

std::string jobText(const std::string &pipeline, int ranks,
                    const std::string &run = "{steps: 20}") {
  return R"(version: 1
cluster:   {ranks: )" +
         std::to_string(ranks) + R"(}
models:
  policy:  {family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256}
roles:
  actor:   {model: policy}
pipeline:  )" +
         pipeline + R"(
data:      {text: corpus.txt, sequence: 128 tokens}
optimizer: {lr: 3.0e-4}
run:       )" +
         run + "\n";
}

std::string withReplicas(std::string text, int replicas) {
  const std::string actor = "{model: policy}";
  return text.replace(text.find(actor), actor.size(),
                      "{model: policy, parallel: {dp: " + std::to_string(replicas) + "}}");
}

Job jobOf(const std::string &text) {
  SourceCache sources;
  sources.add("job.yaml", text);
  Findings findings;
  const std::optional<Job> job = readJob(text, "job.yaml", findings);
  EXPECT_TRUE(job) << renderText(findings, sources);
  return job.value_or(Job());
}

const std::string kPipelines[] = {
    "{schedule: gpipe, microbatches: 4, microbatch: 2 samples}",
    "{schedule: 1f1b, microbatches: 8, microbatch: 2 samples}",
    "{schedule: interleaved, chunks: 2, microbatches: 8, microbatch: 2 samples}",
    "{schedule: zb-h1, microbatches: 8, microbatch: 2 samples}",
};

CompileOptions options() { return {.text = kText, .version = "0.1.0", .verifyEach = true}; }

plan::Plan compiled(const Job &job) {
  Compiled result;
  Findings findings;
  EXPECT_TRUE(compileJob(job, options(), result, findings))
      << result.internalError << renderText(findings, {});
  EXPECT_TRUE(result.plan);
  return result.plan.value_or(plan::Plan());
}

// The algorithms of the phases one after the other, without IR between.
plan::Plan compiledPlainly(Job job) {
  Findings findings;
  const auto schedule = buildOrder(job, findings);
  auto plan = lowerWithSlots(job, *schedule, {job.pipeline.microbatches.value}, findings);
  EXPECT_TRUE(planMemory(*plan, capsOf(job), job.pipeline.microbatches.value, receiveSlotsOf(job)));
  finishPlan(*plan, job, kText, "0.1.0");
  return *plan;
}

std::string contentsOf(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Folder {
public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "vime-phases-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST(CompileJob, LosesNothingByWayOfTheIr) {
  for (const std::string &pipeline : kPipelines)
    for (const int ranks : {1, 2, 4})
      for (const char *run : {"{steps: 20}", "{steps: 3, seed: 5, export: out}"}) {
        SCOPED_TRACE(pipeline + " on " + std::to_string(ranks));
        const Job job = jobOf(jobText(pipeline, ranks, run));
        EXPECT_EQ(compiled(job), withSharedOperands(compiledPlainly(job)));
      }
}

TEST(CompileJob, LosesNothingOfReceiveSlots) {
  for (const char *slots : {"receive_slots: 1", "receive_slots: 4", "costs: [10, 10, 10, 5]"}) {
    const Job job = jobOf(jobText("{schedule: 1f1b, microbatches: 8, microbatch: 2 samples, " +
                                      std::string(slots) + "}",
                                  4, "{steps: 20}"));
    EXPECT_EQ(compiled(job), withSharedOperands(compiledPlainly(job)));
  }
}

TEST(CompileJob, LosesNothingOfReplicas) {
  for (const char *run : {"{steps: 20}", "{steps: 3, seed: 5, export: out}"}) {
    const Job job = jobOf(withReplicas(jobText(kPipelines[1], 6, run), 3));
    EXPECT_EQ(compiled(job), withSharedOperands(compiledPlainly(job)));
  }
}

TEST(CompileJob, EveryActionComesFromALineOfTheUser) {
  for (const std::string &pipeline : kPipelines) {
    const std::string text = withReplicas(jobText(pipeline, 4, "{steps: 3, export: out}"), 2);
    const plan::Plan plan = compiled(jobOf(text));
    const auto lines = std::count(text.begin(), text.end(), '\n');
    for (const plan::Program &program : plan.programs)
      for (const plan::Action &action : program.actions) {
        const auto origin =
            std::find_if(plan.origins.begin(), plan.origins.end(),
                         [&](const plan::Origin &each) { return each.opcode == action.opcode; });
        ASSERT_NE(origin, plan.origins.end()) << action.opcode;
        EXPECT_GT(origin->line, 0u) << origin->key;
        EXPECT_LE(origin->line, lines) << origin->key;
        EXPECT_GT(origin->column, 0u) << origin->key;
      }
  }
}

TEST(CompileJob, StopsAfterAPhaseAndShowsItsIr) {
  const Job job = jobOf(jobText(kPipelines[1], 2));
  const std::pair<const char *, const char *> shown[] = {
      {"job", "job.field \"pipeline.schedule\" \"1f1b\" given"},
      {"order", "rank 0 : \"0F0"},
      {"comm", "plan.send stage 0 microbatch 0"},
      {"memory", "uses ["},
      {"plan", "plan.origin of forward"}};
  for (const auto &[phase, line] : shown) {
    CompileOptions early = options();
    early.stopAfter = phase;
    Compiled result;
    Findings findings;
    EXPECT_TRUE(compileJob(job, early, result, findings)) << phase;
    EXPECT_FALSE(result.plan) << phase;
    EXPECT_NE(result.stoppedText.find(line), std::string::npos) << phase;
    if (std::string_view(phase) == "job") {
      EXPECT_EQ(result.stoppedText.find("sched."), std::string::npos);
    }
  }
}

TEST(CompileJob, DumpsEveryPhase) {
  const Folder folder;
  const std::filesystem::path dumps = folder.path / "new" / "dumps";
  CompileOptions dumping = options();
  dumping.dumpDirectory = dumps;
  Compiled result;
  Findings findings;
  ASSERT_TRUE(compileJob(jobOf(jobText(kPipelines[1], 2)), dumping, result, findings))
      << result.fileError;
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(dumps))
    files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<std::string>{"1-job.mlir", "2-order.mlir", "3-comm.mlir",
                                             "4-memory.mlir", "5-plan.mlir"}));
  EXPECT_NE(contentsOf(dumps / "2-order.mlir").find("sched.pipeline \"1f1b\""), std::string::npos);
  EXPECT_NE(contentsOf(dumps / "5-plan.mlir").find("plan.run"), std::string::npos);
}

TEST(CompileJob, SaysWhereADumpCannotBeWritten) {
  const Folder folder;
  std::ofstream(folder.path / "file") << "in the way";
  CompileOptions dumping = options();
  dumping.dumpDirectory = folder.path / "file";
  Compiled result;
  Findings findings;
  EXPECT_FALSE(compileJob(jobOf(jobText(kPipelines[1], 2)), dumping, result, findings));
  EXPECT_NE(result.fileError.find("file`"), std::string::npos) << result.fileError;
  EXPECT_FALSE(findings.any());
  EXPECT_EQ(contentsOf(folder.path / "file"), "in the way");
}

TEST(CompileJob, TellsTheTimeOfEachPart) {
  Compiled result;
  Findings findings;
  compileJob(jobOf(jobText(kPipelines[1], 2)), options(), result, findings);
  std::vector<std::string> parts;
  for (const PartTime &part : result.times)
    parts.push_back(part.part);
  EXPECT_EQ(parts, (std::vector<std::string>{"job", "order", "comm", "memory", "plan", "flatten",
                                             "verify", "predict"}));
}

TEST(CompileJob, SaysWhatTheVerifiersFound) {
  Job job = jobOf(jobText(kPipelines[1], 2));
  job.cluster.memory.value = job.pipeline.memoryLimit.value = 1 << 20; // 1 MiB
  job.pipeline.memoryLimit.span = job.cluster.memory.span = {"job.yaml", 2, 1, 7};
  Compiled result;
  Findings findings;
  EXPECT_FALSE(compileJob(job, options(), result, findings));
  EXPECT_FALSE(result.plan);
  EXPECT_EQ(result.internalError, "");
  ASSERT_TRUE(findings.any());
  EXPECT_EQ(findings.all().front().rule, Rule::M1) << renderText(findings, {});
  EXPECT_EQ(findings.all().front().span, job.pipeline.memoryLimit.span);
}

TEST(Phases, HaveNamesAndSentences) {
  std::string names;
  for (const Phase &phase : phases()) {
    names += std::string(phase.name) + " ";
    EXPECT_FALSE(phase.sentence.empty());
    EXPECT_EQ(findPhase(phase.name), &phase);
  }
  EXPECT_EQ(names, "job order comm memory plan ");
  EXPECT_EQ(findPhase("lower"), nullptr);
}

} // namespace
} // namespace vime
