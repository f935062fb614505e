#include "compiler/Driver/JobOfPlan.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/Driver/Commands.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Frontend/Settings.h"
#include "compiler/Phases/Phases.h"

namespace vime {
namespace {

/// Of `key: value   # given`: what stands before the last `#`, and behind it.
struct Line {
  std::size_t depth;
  std::string key, value, origin;
};

Line lineOf(std::string_view text) {
  const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t colon = std::min(text.find(": ", indent), text.size());
  Line line{.depth = indent / 2, .key = std::string(text.substr(indent, colon - indent))};
  if (colon == text.size()) {
    if (line.key.ends_with(':'))
      line.key.pop_back(); // a section
    return line;
  }
  const std::size_t mark = std::min(text.rfind("# "), text.size());
  std::string_view value = text.substr(colon + 2, mark - std::min(mark, colon + 2));
  value = value.substr(0, value.find_last_not_of(' ') + 1);
  line.value = value;
  line.origin = mark == text.size() ? "" : std::string(text.substr(mark + 2));
  return line;
}

/// What of a resolved job (Job.h, resolvedText) has to be stated to get it again.
std::vector<StatedValue> statedIn(std::string_view text) {
  std::vector<StatedValue> values;
  std::vector<std::string> sections;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Line line = lineOf(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    sections.resize(std::min(line.depth, sections.size()));
    if (line.value.empty()) {
      sections.push_back(line.key);
      continue;
    }
    std::string path;
    for (const std::string &section : sections)
      path += section + '.';
    path += line.key;
    const bool isOfModel = path.starts_with("models.");
    const bool isCheckpoint = isOfModel && path.ends_with(".checkpoint");
    if (!isCheckpoint && path != "version" && (isOfModel || line.origin.starts_with("given")))
      values.push_back({std::move(path), line.value});
  }
  return values;
}

FileFingerprint printOf(const plan::PromptSettings &prompts) {
  return {prompts.bytes, prompts.hash};
}

TextFacts factsOf(const plan::Plan &plan) {
  return {.bytes = plan.data.textBytes,
          .hash = plan.data.textHash,
          .heldOutBytes = plan.evaluation.textBytes,
          .heldOutHash = plan.evaluation.textHash,
          .moduleHash = plan.models.front().moduleHash,
          .round = {printOf(plan.round.prompts), printOf(plan.round.evaluation.prompts)}};
}

std::string firstOf(const Findings &findings) {
  const Finding &finding = findings.all().front();
  return codeOf(finding.rule, finding.number) + ": " + finding.message;
}

} // namespace

const std::string *JobAgain::find(std::string_view path) const {
  const auto found =
      std::ranges::find_if(values, [&](const StatedValue &value) { return value.path == path; });
  return found == values.end() ? nullptr : &found->value;
}

JobAgain jobOfPlan(const plan::Plan &plan) { return {"plan.yaml", statedIn(plan.job)}; }

JobAgain jobInFile(const Job &job) { return {job.file, statedIn(resolvedText(job))}; }

std::optional<plan::Plan> compileAgain(const JobAgain &again, const plan::Plan &plan,
                                       const std::vector<std::string> &settings,
                                       std::string &whyNot) {
  std::vector<std::string> all = settings;
  for (const StatedValue &value : again.values) {
    const std::string stated = value.path + '=' + value.value;
    if (!isSetting(stated)) {
      whyNot = "the plan does not carry its job as `vimec` writes it";
      return std::nullopt;
    }
    if (std::ranges::none_of(settings, [&](const std::string &setting) {
          return setting.starts_with(value.path + '=');
        }))
      all.push_back(stated);
  }
  Findings findings;
  const std::optional<Job> job = readJob("version: 1\n", again.file, findings, all);
  Compiled compiled;
  if (job &&
      compileJob(*job, {.text = factsOf(plan), .version = compilerVersion()}, compiled, findings))
    return std::move(compiled.plan);
  whyNot = findings.any() ? firstOf(findings) : compiled.internalError;
  return std::nullopt;
}

} // namespace vime
