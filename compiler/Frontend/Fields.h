// Fields: a job as a flat list, `pipeline.chunks` = `2`, derived from `pipeline.schedule`. The
// `job` dialect carries exactly this list.
//
//   std::vector<ResolvedField> fields = fieldsOf(job);
//   std::optional<Job> again = jobFromFields(job.file, fields, findings); // the same job, origins
//   included
//
// Order of the list: the field table's (FieldTable.h); the fields of a model stand together. A
// value that nobody stated and that has no default (`run.export`) is not in the list. `version` is
// not in the list.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Frontend/Job.h"

namespace vime {

struct ResolvedField {
  std::string path;      // `models.policy.layers`
  std::string valueText; // canonical, with its unit: `8`, `4 samples`, `80GiB`, `3 ms`, `0-3`,
                         // `[0.9, 0.95]`
  OriginKind origin = OriginKind::Given;
  SourceSpan span;  // see Field
  std::string from; // of derived values
  bool operator==(const ResolvedField &) const = default;
};

std::vector<ResolvedField> fieldsOf(const Job &job);

/// The inverse. A list that no job gives (a hand-written one) is judged like a file: every error in
/// `findings`, at the span of its field.
std::optional<Job> jobFromFields(std::string file, std::span<const ResolvedField> fields,
                                 Findings &findings);

/// `given`, `default`, `derived`.
std::string_view nameOf(OriginKind origin);
std::optional<OriginKind> originFromName(std::string_view name);

} // namespace vime
