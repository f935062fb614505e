// Fuzz target `job`: the text of a job.yaml; behind zero bytes, values for `--set`.
#include <algorithm>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/Fields.h"
#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Frontend/Settings.h"
#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Lowering/FinishPlan.h"
#include "compiler/Lowering/PlanMemory.h"
#include "compiler/Lowering/ReceiveSlotsOfJob.h"
#include "compiler/Lowering/StepFamily.h"
#include "compiler/Verify/Verify.h"
#include "tests/Fuzz/Files.h"
#include "tests/Fuzz/Target.h"

namespace vime::fuzz {
namespace {

/// A folder that is not there: what a job names by a relative path cannot be read.
constexpr const char *kFile = "/no/such/folder/job.yaml";
constexpr std::uint64_t kTextBytes = 5000;

struct Input {
  std::string text;
  std::vector<std::string> settings;
};

Input split(std::string_view bytes) {
  Input input{std::string(bytes.substr(0, bytes.find('\0'))), {}};
  while (bytes.find('\0') != std::string_view::npos) {
    bytes.remove_prefix(bytes.find('\0') + 1);
    if (const auto setting = bytes.substr(0, bytes.find('\0')); isSetting(setting))
      input.settings.emplace_back(setting);
  }
  return input;
}

/// Beyond, a plan costs more time than it teaches.
bool isSmall(const Job &job) {
  const std::uint64_t layers = job.model(job.actor.model.value)->config.layers;
  return std::uint64_t(job.actor.pipeline.value) * mostMicrobatches(job) <= 64 &&
         job.actor.pipeline.value <= 16 && job.pipeline.chunks.value <= 8 && layers <= 32;
}

/// A legal job becomes a plan in which only its memory can be wrong.
void compiles(Job job, const SourceCache &sources) {
  Findings findings;
  const std::optional<Schedule> order = buildOrder(job, findings);
  auto plan =
      order ? lowerWithSlots(job, *order, stepFamily(job, kTextBytes), findings) : std::nullopt;
  must(plan.has_value() != findings.any(), "a job has programs or a reason");
  if (!plan)
    return;
  must(planMemory(*plan, capsOf(job), mostMicrobatches(job), receiveSlotsOf(job)),
       "waits have room in an action");
  finishPlan(*plan, job, {kTextBytes, {1, 2}, kTextBytes, {3, 4}}, "fuzz");
  verifyPlan(*plan, findings, job.file);
  for (const Finding &finding : findings.all())
    must(finding.rule == Rule::M1, renderText(finding, sources));
}

void isTheSameFromItsFields(const Job &job) {
  const std::vector<ResolvedField> fields = fieldsOf(job);
  Findings findings;
  const std::optional<Job> again = jobFromFields(job.file, fields, findings);
  must(again.has_value(), "the fields of a job are a job");
  must(fieldsOf(*again) == fields, "the fields of a job give the same job");
}

} // namespace

void eat(std::string_view bytes) {
  const Input input = split(bytes);
  SourceCache sources;
  sources.add(kFile, input.text);
  Findings findings;
  const std::optional<Job> job = readJob(input.text, kFile, findings, input.settings, &sources);
  must(job.has_value() != findings.any(), "a job is legal or something is wrong with it");
  (void)renderText(findings, sources);
  (void)renderJson(findings, sources);
  if (!job)
    return;
  isTheSameFromItsFields(*job);
  if (isSmall(*job))
    compiles(*job, sources);
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const char *folder : {VIME_SOURCE "/examples", VIME_SOURCE "/tests/frontend/errors"})
    for (const auto &path : filesIn(folder, ".yaml"))
      texts.push_back(contentsOf(path));
  return texts;
}

} // namespace vime::fuzz
