// What `sched.pipeline` holds.
#pragma once

#include <string>

#include "dialects/Record/RecordAttributes.h"
#include "dialects/Record/RecordText.h"
#include "schedules/Schedule.h"

namespace vime {

inline bool operator==(const Schedule &a, const Schedule &b) {
  return a.placement == b.placement && a.rows == b.rows && a.copies == b.copies &&
         a.slices == b.slices;
}

} // namespace vime

namespace vime::ir {

struct PipelineRecord {
  std::string name; // of the order: `1f1b`
  std::uint32_t microbatches = 0;
  Schedule schedule;
  bool operator==(const PipelineRecord &) const = default;
};

/// `0F0 . 0F1&0B0` for a row; the last of it a pair.
std::string rowText(const std::vector<Task> &row);

/// The inverse; on error false, and `where` is the first character that is no task.
bool parseRow(std::string_view text, std::vector<Task> &row, std::size_t &where);

template <typename Fields> void visitFields(Fields &fields, PipelineRecord &pipeline) {
  fields.leading("name", pipeline.name);
  fields.named("microbatches", pipeline.microbatches);
  fields.optional("copies", pipeline.schedule.copies, 1);
  fields.optional("slices", pipeline.schedule.slices, 1);
  fields.list("placement", pipeline.schedule.placement);
}

/// Rows as texts: for MLIR's generic form.
mlir::Attribute toAttribute(mlir::MLIRContext *context, const PipelineRecord &pipeline);
mlir::LogicalResult fromAttribute(PipelineRecord &pipeline, mlir::Attribute attribute,
                                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace vime::ir
