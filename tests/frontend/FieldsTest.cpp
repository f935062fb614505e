#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/Fields.h"
#include "tests/frontend/SampleJob.h"

namespace vime {
namespace {

std::string listOf(const Job &job) {
  std::string text;
  for (const ResolvedField &field : fieldsOf(job))
    text += field.path + " = " + field.valueText + " (" + std::string(nameOf(field.origin)) +
            (field.from.empty() ? "" : ' ' + field.from) + ")\n";
  return text;
}

TEST(Fields, AreAllOfAJob) {
  EXPECT_EQ('\n' + listOf(legalJob(sampleText())), R"(
name = job (derived the file's name)
cluster.ranks = 4 (given)
cluster.device = cpu (default)
cluster.kernels = native (default)
models.policy.family = llama (given)
models.policy.layers = 8 (given)
models.policy.hidden = 64 (given)
models.policy.heads = 4 (given)
models.policy.kv_heads = 4 (derived models.policy.heads)
models.policy.head_width = 16 (derived models.policy.hidden, models.policy.heads)
models.policy.ffn = 172 (given)
models.policy.vocab = 256 (given)
models.policy.tied = false (default)
models.policy.dtype = float32 (default)
models.policy.rope_theta = 10000 (default)
models.policy.norm_epsilon = 1e-05 (default)
roles.actor.model = policy (given)
roles.actor.ranks = 0-3 (derived cluster.ranks)
roles.actor.parallel.pp = 4 (derived roles.actor.ranks)
roles.actor.parallel.dp = 1 (default)
roles.actor.parallel.shard = false (default)
pipeline.schedule = 1f1b (given)
pipeline.chunks = 1 (derived pipeline.schedule)
pipeline.merge_backwards = auto (default)
pipeline.microbatches = 8 (given)
pipeline.microbatch = 4 samples (given)
pipeline.receive_slots = auto (default)
batch.global = 32 samples (derived pipeline.microbatches, pipeline.microbatch, roles.actor.parallel.dp)
data.text = corpus.txt (given)
data.sequence = 128 tokens (given)
data.split = window (default)
data.tail = join (default)
optimizer.kind = adamw (default)
optimizer.lr = 0.0003 (given)
optimizer.betas = [0.9, 0.999] (default)
optimizer.epsilon = 1e-08 (default)
optimizer.weight_decay = 0.01 (default)
optimizer.clip = 1 (default)
optimizer.commit = barrier (default)
optimizer.warmup = 0 steps (default)
optimizer.decay = constant (default)
optimizer.floor = 0 (default)
memory.recompute = none (default)
memory.unshard_rule = fewest (default)
run.steps = 200 (given)
run.seed = 0 (default)
limits.connect = 300s (default)
limits.transfer = 600s (default)
)");
}

TEST(Fields, AFamilyHasOnlyItsOwn) {
  const std::string list = listOf(
      legalJob(sampleWith("{family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256}",
                          "{family: null, layers: 8}")));
  EXPECT_NE(list.find("models.policy.dtype"), std::string::npos);
  EXPECT_EQ(list.find("models.policy.hidden"), std::string::npos);
  EXPECT_EQ(list.find("models.policy.rope_theta"), std::string::npos);
}

TEST(Fields, GiveTheSameJobBack) {
  for (const auto &path : exampleJobs()) {
    const Job job = legalJob(exampleText(path), path.string());
    Findings findings;
    const auto again = jobFromFields(job.file, fieldsOf(job), findings);
    ASSERT_TRUE(again) << renderText(findings, SourceCache());
    EXPECT_EQ(fieldsOf(*again), fieldsOf(job)) << "places and origins included";
    EXPECT_EQ(again->models[0].config, job.models[0].config);
  }
}

TEST(Fields, OfACheckpointNeedNoCheckpoint) {
  const Job job =
      legalJob(sampleWith("{family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256}",
                          "{checkpoint: checkpoint}"),
               std::string(VIME_ERRORS) + "/job.yaml");
  Findings findings;
  const auto again = jobFromFields("elsewhere/job.yaml", fieldsOf(job), findings);
  ASSERT_TRUE(again) << renderText(findings, SourceCache());
  EXPECT_EQ(fieldsOf(*again), fieldsOf(job));
}

TEST(Fields, AListThatNoJobGivesIsJudged) {
  std::vector<ResolvedField> fields = fieldsOf(legalJob(sampleText()));
  fields.push_back(fields.back());                                      // twice
  fields.push_back({.path = "run.flavour", .valueText = "mild"});       // no field
  fields.push_back({.path = "run", .valueText = ""});                   // a section
  fields.push_back({.path = "models.a b.family", .valueText = "null"}); // no name
  for (ResolvedField &field : fields)
    if (field.path == "pipeline.microbatches")
      field.valueText = "none";
    else if (field.path == "roles.actor.parallel.pp")
      field.valueText = "2";
  Findings findings;
  EXPECT_FALSE(jobFromFields("job.yaml", fields, findings));
  std::string codes;
  for (const Finding &finding : findings.all())
    codes += codeOf(finding.rule, finding.number) + ' ';
  EXPECT_EQ(codes, "J0020 J0013 J0012 J0012 J0024 J0033 ");
}

TEST(Fields, AnEmptyListSaysWhatIsMissing) {
  Findings findings;
  EXPECT_FALSE(jobFromFields("job.yaml", {}, findings));
  EXPECT_EQ(findings.size(), 7u); // cluster, models, roles, pipeline, data, optimizer, run
}

TEST(Fields, OriginsHaveNames) {
  for (const OriginKind kind : {OriginKind::Given, OriginKind::Default, OriginKind::Derived})
    EXPECT_EQ(originFromName(nameOf(kind)), kind);
  EXPECT_EQ(originFromName("guessed"), std::nullopt);
}

} // namespace
} // namespace vime
