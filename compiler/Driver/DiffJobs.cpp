#include <algorithm>
#include <map>

#include "compiler/Driver/Difference.h"
#include "compiler/Frontend/Fields.h"
#include "compiler/Frontend/ReadJob.h"

namespace vime {
namespace {

std::vector<Change> changesBetween(const std::vector<ResolvedField> &one,
                                   const std::vector<ResolvedField> &other) {
  std::map<std::string, std::string> others;
  for (const ResolvedField &field : other)
    others[field.path] = field.valueText;
  std::vector<Change> changes;
  for (const ResolvedField &field : one) {
    const auto found = others.find(field.path);
    const std::string value = found == others.end() ? std::string() : found->second;
    if (value != field.valueText)
      changes.push_back({changeClassOf(field.path), field.path, field.valueText, value});
    if (found != others.end())
      others.erase(found);
  }
  for (const ResolvedField &field : other)
    if (others.contains(field.path))
      changes.push_back({changeClassOf(field.path), field.path, {}, field.valueText});
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change &left, const Change &right) { return left.kind < right.kind; });
  return changes;
}

std::optional<std::vector<ResolvedField>> fieldsIn(const std::string &path, Findings &findings,
                                                   SourceCache &sources, Status &failure) {
  const StatusOr<std::string> text = readFile(path);
  if (!text.ok()) {
    failure = text.status();
    return std::nullopt;
  }
  sources.add(path, *text);
  const std::optional<Job> job = readJob(*text, path, findings, {}, &sources);
  return job ? std::optional(fieldsOf(*job)) : std::nullopt;
}

} // namespace

StatusOr<Difference> differenceOfJobs(const DiffArguments &arguments, Findings &findings,
                                      SourceCache &sources) {
  Status failure;
  const auto one = fieldsIn(arguments.one, findings, sources, failure);
  const auto other = fieldsIn(arguments.other, findings, sources, failure);
  if (!failure.ok())
    return failure;
  return one && other ? Difference{changesBetween(*one, *other), {}, {}} : Difference{};
}

} // namespace vime
