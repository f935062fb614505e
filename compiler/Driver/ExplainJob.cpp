#include "compiler/Driver/ExplainJob.h"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Driver/JobText.h"
#include "compiler/Frontend/Fields.h"
#include "compiler/Frontend/OrderShape.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Lowering/ReceiveSlotsOfJob.h"
#include "runtime/Base/Counted.h"
#include "schedules/MergeBackwards.h"

namespace vime {

namespace {

// `job.yaml:9:23`, or the `--set …` that stated it.
std::string placeOf(const SourceSpan &span) {
  return span.line > 0 ? fmt::format("{}:{}:{}", span.file, span.line, span.column) : span.file;
}

/// Of a job whose order splits backwards: its input gradients, and those that are part of a whole
/// backward.
struct MergedHalves {
  std::size_t all = 0, merged = 0;
};
std::optional<MergedHalves> mergedHalves(const Job &job) {
  Job split = job;
  split.pipeline.mergeBackwards.value = "none";
  Findings findings; // told by `check`
  const std::optional<Schedule> order = buildOrder(split, findings);
  const std::size_t all = order ? halvesOf(*order).all : 0;
  if (all == 0)
    return std::nullopt;
  return MergedHalves{all,
                      all - halvesOf(mergeBackwards(*order, mergingOf(job), costsOf(job))).all};
}

bool saysMerging(const ResolvedField &field) { return field.path == "pipeline.merge_backwards"; }

std::string originText(const ResolvedField &field) {
  switch (field.origin) {
  case OriginKind::Given:
    return (field.span.line > 0 ? "given at " : "given by ") + placeOf(field.span);
  case OriginKind::Default:
    return "default";
  case OriginKind::Derived:
    return "derived from " + field.from;
  }
  return {};
}

std::string textOf(const std::vector<ResolvedField> &fields,
                   const std::optional<MergedHalves> &halves) {
  std::size_t paths = 0, values = 0;
  for (const ResolvedField &field : fields) {
    paths = std::max(paths, characterCount(field.path));
    values = std::max(values, std::min<std::size_t>(characterCount(field.valueText), 24));
  }
  std::string text;
  for (const ResolvedField &field : fields) {
    text += fmt::format("{:<{}}  {:<{}}  {}", field.path, paths, printable(field.valueText), values,
                        printable(originText(field)));
    if (halves && saysMerging(field))
      text += fmt::format("; {} of {} are part of a whole backward", halves->merged,
                          counted(halves->all, "input gradient"));
    text += '\n';
  }
  return text;
}

std::string jsonOf(const std::vector<ResolvedField> &fields,
                   const std::optional<MergedHalves> &halves) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const ResolvedField &field : fields) {
    Json json = {
        {"path", field.path}, {"value", field.valueText}, {"origin", nameOf(field.origin)}};
    if (field.origin == OriginKind::Given)
      json["place"] = placeOf(field.span);
    if (field.origin == OriginKind::Derived)
      json["from"] = field.from;
    if (halves && saysMerging(field)) {
      json["input_gradients"] = halves->all;
      json["merged"] = halves->merged;
    }
    list.push_back(std::move(json));
  }
  return Json{{"format", "vime-job"}, {"format_version", 1}, {"fields", list}}.dump(
      2, ' ', false, Json::error_handler_t::replace);
}

} // namespace

int explainJob(const JobArguments &arguments, const OutputOptions &output) {
  const StatusOr<std::string> text = readFile(arguments.file);
  if (!text.ok())
    return reportFailure(text.status(), output);
  SourceCache sources;
  sources.add(arguments.file, *text);
  Findings findings;
  std::optional<Job> job = readJob(*text, arguments.file, findings, arguments.settings, &sources);
  if (!job)
    return reportFindings(findings, sources, output);
  Findings ofText; // told by `check`
  const std::optional<TextFacts> facts = readTextFacts(*job, ofText);
  chooseSlots(*job, facts ? facts->samples : 0);
  const auto fields = fieldsOf(*job);
  const auto halves = mergedHalves(*job);
  std::cout << (output.json ? jsonOf(fields, halves) + '\n' : textOf(fields, halves));
  return 0;
}

} // namespace vime
