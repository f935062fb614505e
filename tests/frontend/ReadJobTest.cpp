#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/FieldTable.h"
#include "compiler/Frontend/OrderShape.h"
#include "compiler/Frontend/ReadJob.h"
#include "tests/frontend/SampleJob.h"

namespace vime {
namespace {

TEST(ReadJob, TheFirstJobOfTheDocumentation) {
  const Job job = legalJob(contentsOf(std::string(VIME_EXAMPLES) + "/text-1f1b/job.yaml"));
  EXPECT_EQ(job.name.value, "text-1f1b");
  EXPECT_EQ(job.cluster.ranks.value, 4u);
  EXPECT_EQ(job.cluster.device.value, "cpu");
  ASSERT_EQ(job.models.size(), 1u);
  EXPECT_EQ(job.models[0].config, (ModelConfig{.family = ModelFamily::Llama,
                                               .type = DataType::Float32,
                                               .layers = 8,
                                               .hidden = 256,
                                               .heads = 8,
                                               .kvHeads = 8,
                                               .headWidth = 32,
                                               .ffn = 688,
                                               .vocab = 256}));
  EXPECT_EQ(job.actor.ranks.value, 4u);
  EXPECT_EQ(job.actor.pipeline.value, 4u);
  EXPECT_EQ(job.pipeline.schedule.value, "1f1b");
  EXPECT_EQ(job.pipeline.chunks.value, 1u);
  EXPECT_EQ(job.pipeline.microbatches.value, 8u);
  EXPECT_EQ(job.pipeline.microbatch.value, (Quantity{4, false}));
  EXPECT_EQ(job.data.text.value, "corpus.txt");
  EXPECT_EQ(job.data.sequence.value, 128u);
  EXPECT_EQ(job.optimizer.learningRate.value, 3e-4);
  EXPECT_EQ(job.optimizer.clip.value, 1.0);
  EXPECT_EQ(job.run.steps.value, 200u);
  EXPECT_EQ(job.run.seed.value, 7u);
  EXPECT_EQ(job.run.exportTo.value, "out/text-1f1b");
}

TEST(ReadJob, EveryValueHasItsOrigin) {
  const Job job = legalJob(sampleText());
  EXPECT_EQ(job.pipeline.microbatches.origin, OriginKind::Given);
  EXPECT_EQ(job.pipeline.microbatches.span, (SourceSpan{"job.yaml", 7, 43, 1}));

  EXPECT_EQ(job.pipeline.chunks.origin, OriginKind::Derived);
  EXPECT_EQ(job.pipeline.chunks.from, "pipeline.schedule");
  EXPECT_EQ(job.pipeline.chunks.span, (SourceSpan{"job.yaml", 7, 23, 4})) << "where `1f1b` stands";

  EXPECT_EQ(job.optimizer.clip.origin, OriginKind::Default);
  EXPECT_EQ(job.optimizer.clip.span, (SourceSpan{"job.yaml", 9, 1, 9})) << "the section";
  EXPECT_EQ(job.limits.transferSeconds.span, (SourceSpan{"job.yaml", 1, 1, 7})) << "no section";

  const auto &origins = job.models[0].origins;
  EXPECT_EQ(origins.at("layers").kind, OriginKind::Given);
  EXPECT_EQ(origins.at("head_width").kind, OriginKind::Derived);
  EXPECT_EQ(origins.at("head_width").from, "models.policy.hidden, models.policy.heads");
  EXPECT_EQ(origins.at("dtype").kind, OriginKind::Default);
}

TEST(ReadJob, RanksFollowFromTheCluster) {
  const Job job = legalJob(sampleText());
  EXPECT_EQ(job.actor.firstRank.value, 0u);
  EXPECT_EQ(job.actor.ranks.value, 4u);
  EXPECT_EQ(job.actor.ranks.from, "cluster.ranks");
  EXPECT_EQ(job.actor.pipeline.value, 4u);
  EXPECT_EQ(job.actor.pipeline.from, "roles.actor.ranks");
}

TEST(ReadJob, TheNameFollowsFromTheFile) {
  EXPECT_EQ(legalJob(sampleText(), "jobs/first try.yaml").name.value, "first-try");
  EXPECT_EQ(legalJob(sampleText(), "").name.value, "job");
}

TEST(ReadJob, AnOrderBringsItsChunks) {
  EXPECT_EQ(legalJob(sampleWith("1f1b", "interleaved")).pipeline.chunks.value, 2u);
}

TEST(ReadJob, TheOrdersShapeIsWhatTheJobStates) {
  Job job = legalJob(sampleText());
  EXPECT_EQ(shapeOf(job).ranks, 4);
  EXPECT_EQ(shapeOf(job).microbatches, 8);
  EXPECT_EQ(shapeOf(job).slices, 1); // nothing stated: left to the order
  EXPECT_EQ(shapeOf(job).costs, UnitCosts{});
  job.pipeline.group.value = 6;
  job.pipeline.memory.value = 12;
  job.pipeline.slices.value = 2;
  job.pipeline.overlap.value = true;
  job.pipeline.costs.value = {10, 12, 8, 3};
  const ScheduleShape shape = shapeOf(job);
  EXPECT_EQ(std::tuple(shape.group, shape.memory, shape.slices, shape.overlap),
            std::tuple(6, 12, 2, true));
  EXPECT_EQ(shape.costs, UnitCosts{}); // with that of a transfer they are for its slots alone
  EXPECT_EQ(costsOf(job), (UnitCosts{10, 12, 8, 3}));
  job.pipeline.schedule.value = "zb-2p";
  EXPECT_EQ(shapeOf(job).costs, (UnitCosts{10, 12, 8, 3}));
  job.pipeline.schedule.value = "1f1b";
  job.pipeline.costs.value = {10, 12, 8};
  EXPECT_EQ(shapeOf(job).costs, (UnitCosts{10, 12, 8, 0}));
  job.pipeline.schedule.value = "zb-h1"; // for its halves of backwards alone
  EXPECT_EQ(shapeOf(job).costs, UnitCosts{});
  job.pipeline.mergeBackwards.value = "none";
  EXPECT_EQ(shapeOf(job).costs, (UnitCosts{10, 12, 8, 0}));
  EXPECT_EQ(pathOf("ranks"), "roles.actor.parallel.pp");
  for (const std::string_view number : {"group", "memory", "slices", "chunks", "microbatches"})
    EXPECT_NE(findField(pathOf(number)), nullptr) << number;
}

TEST(ReadJob, LayersOfStagesMayBeWrittenAsInMegatron) {
  const Job job = legalJob(
      sampleWith("microbatch: 4 samples", "microbatch: 4 samples, layout: \"Et*3|(tt|)*2tL\""));
  EXPECT_EQ(job.pipeline.layout.value, (std::vector<std::uint64_t>{3, 2, 2, 1}));
}

TEST(ReadJob, TheLimitOfAPlanFollowsFromTheMemoryOfARank) {
  const Job job = legalJob(sampleWith("ranks: 4", "ranks: 4, memory: 80GiB"));
  EXPECT_EQ(job.pipeline.memoryLimit.value, 80ull << 30);
  EXPECT_EQ(job.pipeline.memoryLimit.from, "cluster.memory");
  EXPECT_EQ(legalJob(sampleText()).pipeline.memoryLimit.value, 0u);
}

TEST(ReadJob, NamesOfMegatronAreTakenInTheirSection) {
  const Job job = legalJob(R"(version: 1
cluster:   {ranks: 4}
models:
  policy:  {family: llama, num-layers: 8, hidden_size: 64, num-attention-heads: 4, num-query-groups: 2,
            ffn-hidden-size: 172, vocab_size: 256}
roles:
  actor:   {model: policy, parallel: {pipeline-model-parallel-size: 4}}
pipeline:  {schedule: 1f1b, num_microbatches: 8, micro-batch-size: 4 samples}
data:      {text: corpus.txt, seq-length: 128 tokens}
optimizer: {lr: 3.0e-4, weight-decay: 0.1, clip-grad: 1.0, adam-eps: 1.0e-8}
run:       {train-iters: 200}
)");
  EXPECT_EQ(job.actor.pipeline.value, 4u);
  EXPECT_EQ(job.models[0].config.kvHeads, 2u);
  EXPECT_EQ(job.optimizer.weightDecay.value, 0.1);
  EXPECT_THAT(resolvedText(job), testing::HasSubstr("\n      pp: 4"));
}

TEST(ReadJob, SleepTakesDurations) {
  const Job job = legalJob(sampleWith(
      "{family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256}",
      "{family: sleep, layers: 4, forward: 3 ms, backward_input: 2.5 us, backward_weight: 0s}"));
  EXPECT_EQ(job.models[0].config.forwardSeconds, 0.003);
  EXPECT_EQ(job.models[0].config.backwardInputSeconds, 2.5e-6);
  EXPECT_EQ(job.models[0].config.backwardWeightSeconds, 0.0);
}

TEST(ReadJob, ACheckpointBringsItsSizes) {
  const std::string text =
      sampleWith("{family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256}",
                 "{checkpoint: checkpoint, layers: 8}");
  const Job job = legalJob(text, std::string(VIME_ERRORS) + "/job.yaml");
  EXPECT_EQ(job.models[0].checkpoint.value, "checkpoint");
  EXPECT_EQ(job.models[0].config.kvHeads, 2u);
  EXPECT_EQ(job.models[0].config.normEpsilon, 1e-6);
  EXPECT_EQ(job.models[0].origins.at("ffn").from, "models.policy.checkpoint");
  EXPECT_EQ(job.models[0].origins.at("layers").kind, OriginKind::Given)
      << "equal, so it may be stated";
}

TEST(ReadJob, PathsCountFromTheJobsFolder) {
  EXPECT_EQ(pathFromJob("examples/a/job.yaml", "corpus.txt"), "examples/a/corpus.txt");
  EXPECT_EQ(pathFromJob("job.yaml", "corpus.txt"), "corpus.txt");
  EXPECT_EQ(pathFromJob("examples/a/job.yaml", "/data/corpus.txt"), "/data/corpus.txt");
}

TEST(ReadJob, OneMistakeIsOneError) {
  EXPECT_EQ(codesOf(sampleWith("{ranks: 4}", "{ranks: x}")), "J0020"); // actor.ranks, pp follow
  EXPECT_EQ(codesOf(sampleWith("cluster: ", "clutser: ")), "J0012");   // and no missing section
  EXPECT_EQ(codesOf(sampleWith("{ranks: 4}", "4")), "J0007");
  EXPECT_EQ(codesOf(sampleWith("family: llama", "family: lama")), "J0023"); // and no missing sizes
  EXPECT_EQ(codesOf(sampleWith("1f1b", "1f2b")), "J0023");                  // and no missing chunks
  EXPECT_EQ(codesOf(sampleWith("heads: 4", "heads: 0")), "J0022");
  EXPECT_EQ(codesOf(sampleWith("models:\n  policy:", "models:\n  po licy:")), "J0024");
  EXPECT_EQ(codesOf(sampleWith("roles:\n  actor:   {model: policy}",
                               "roles:\n  actor:   {model: !x policy}")),
            "J0005");
}

TEST(ReadJob, ErrorsReadFromTheTopDown) {
  SourceCache sources;
  sources.add("job.yaml", contentsOf(std::string(VIME_ERRORS) + "/all-at-once.yaml"));
  Findings findings;
  EXPECT_FALSE(readJob(*sources.source("job.yaml"), "job.yaml", findings));
  std::vector<int> lines;
  for (const Finding &finding : findings.all()) {
    EXPECT_EQ(finding.span.file, "job.yaml");
    EXPECT_TRUE(sources.line("job.yaml", finding.span.line)) << finding.message;
    lines.push_back(finding.span.line);
  }
  EXPECT_GT(lines.size(), 10u);
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
}

TEST(ReadJob, KeepsWhatWasFoundBefore) {
  Findings findings;
  findings.error(Rule::S1, 1, "found in another file");
  EXPECT_TRUE(readJob(sampleText(), "job.yaml", findings)) << "the file itself is legal";
  EXPECT_EQ(findings.size(), 1u);
}

} // namespace
} // namespace vime
