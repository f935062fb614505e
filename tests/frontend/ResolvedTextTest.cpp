#include <gtest/gtest.h>

#include "compiler/Frontend/Fields.h"
#include "tests/frontend/SampleJob.h"

namespace vime {
namespace {

TEST(ResolvedText, IsAJobWithEveryValueAndItsOrigin) {
  EXPECT_EQ(resolvedText(legalJob(
                sampleWith("run:       {steps: 200}", "run: {steps: 200, export: \"out/a b\"}"))),
            R"(version: 1
name: job                               # derived from the file's name
cluster:
  ranks: 4                              # given
  device: cpu                           # default
  kernels: native                       # default
models:
  policy:
    family: llama                       # given
    layers: 8                           # given
    hidden: 64                          # given
    heads: 4                            # given
    kv_heads: 4                         # derived from models.policy.heads
    head_width: 16                      # derived from models.policy.hidden, models.policy.heads
    ffn: 172                            # given
    vocab: 256                          # given
    tied: false                         # default
    dtype: float32                      # default
    rope_theta: 10000                   # default
    norm_epsilon: 1e-05                 # default
roles:
  actor:
    model: policy                       # given
    ranks: 0-3                          # derived from cluster.ranks
    parallel:
      pp: 4                             # derived from roles.actor.ranks
      dp: 1                             # default
      shard: false                      # default
pipeline:
  schedule: 1f1b                        # given
  chunks: 1                             # derived from pipeline.schedule
  merge_backwards: auto                 # default
  microbatches: 8                       # given
  microbatch: 4 samples                 # given
  receive_slots: auto                   # default
batch:
  global: 32 samples                    # derived from pipeline.microbatches, pipeline.microbatch, roles.actor.parallel.dp
data:
  text: corpus.txt                      # given
  sequence: 128 tokens                  # given
  split: window                         # default
  tail: join                            # default
optimizer:
  kind: adamw                           # default
  lr: 0.0003                            # given
  betas: [0.9, 0.999]                   # default
  epsilon: 1e-08                        # default
  weight_decay: 0.01                    # default
  clip: 1                               # default
  commit: barrier                       # default
  warmup: 0 steps                       # default
  decay: constant                       # default
  floor: 0                              # default
memory:
  recompute: none                       # default
  unshard_rule: fewest                  # default
run:
  steps: 200                            # given
  seed: 0                               # default
  export: "out/a b"                     # given
limits:
  connect: 300s                         # default
  transfer: 600s                        # default
)");
}

std::vector<std::pair<std::string, std::string>> valuesOf(const Job &job) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const ResolvedField &field : fieldsOf(job))
    values.emplace_back(field.path, field.valueText);
  return values;
}

TEST(ResolvedText, ReadsBackAsTheSameJob) {
  for (const auto &path : exampleJobs()) {
    const Job job = legalJob(exampleText(path), path.string());
    const Job again = legalJob(resolvedText(job), path.string());
    EXPECT_EQ(valuesOf(again), valuesOf(job)) << path;
    EXPECT_EQ(again.models[0].config, job.models[0].config) << path;
    EXPECT_EQ(again.limits.transferSeconds.value, job.limits.transferSeconds.value) << path;
  }
}

TEST(ResolvedText, QuotesWhatYamlWouldReadOtherwise) {
  for (const char *path : {"a: b", "it's #1", "\\\\server\\\\share", "say \\\"hi\\\"", "[x]",
                           "null", " x ", "größe", "-", "*a", "{"}) {
    const Job job = legalJob(sampleWith("corpus.txt", '"' + std::string(path) + '"'));
    EXPECT_EQ(legalJob(resolvedText(job)).data.text.value, job.data.text.value) << path;
  }
}

TEST(ResolvedText, KeepsOriginsThatAFileNameCannotBreak) {
  EXPECT_EQ(codesOf(resolvedText(legalJob(sampleText(), "a\nb: c.yaml"))), "");
}

} // namespace
} // namespace vime
