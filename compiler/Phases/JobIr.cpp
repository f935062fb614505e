#include "compiler/Phases/JobIr.h"

#include "compiler/Frontend/Fields.h"
#include "mlir/IR/Builders.h"

namespace vime {
namespace {

ir::JobField recordOf(const ResolvedField &field) {
  return {.path = field.path,
          .value = field.valueText,
          .origin = static_cast<ir::FieldOrigin>(field.origin),
          .from = field.from,
          .file = field.span.file,
          .line = field.span.line,
          .column = field.span.column,
          .length = field.span.length};
}
static_assert(static_cast<int>(ir::FieldOrigin::Default) == static_cast<int>(OriginKind::Default) &&
              static_cast<int>(ir::FieldOrigin::Derived) == static_cast<int>(OriginKind::Derived));

ResolvedField fieldOf(const ir::JobField &record) {
  return {.path = record.path,
          .valueText = record.value,
          .origin = static_cast<OriginKind>(record.origin),
          .span = {record.file, record.line, record.column, record.length},
          .from = record.from};
}

ir::JobOp findJob(mlir::ModuleOp module) {
  const auto jobs = module.getOps<ir::JobOp>();
  return jobs.empty() ? ir::JobOp() : *jobs.begin();
}

void appendJob(mlir::OpBuilder &builder, const Job &job) {
  mlir::MLIRContext *context = builder.getContext();
  auto op = builder.create<ir::JobOp>(mlir::FileLineColLoc::get(context, job.file, 1, 1),
                                      ir::JobHead{job.file});
  builder.setInsertionPointToEnd(&op.block());
  for (const ResolvedField &field : fieldsOf(job)) {
    const ir::JobField record = recordOf(field);
    builder.create<ir::FieldOp>(ir::locationOf(context, record), record);
  }
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> moduleFromJob(mlir::MLIRContext *context, const Job &job) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::FileLineColLoc::get(context, job.file, 1, 1));
  auto builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  appendJob(builder, job);
  return module;
}

void replaceJob(mlir::ModuleOp module, const Job &job) {
  mlir::OpBuilder builder(module.getContext());
  if (ir::JobOp old = findJob(module)) {
    builder.setInsertionPoint(old);
    appendJob(builder, job);
    old.erase();
  }
}

std::optional<Job> jobFromModule(mlir::ModuleOp module, Findings &findings) {
  ir::JobOp job = findJob(module);
  if (!job) {
    mlir::emitError(module.getLoc(), "the module states no job");
    return std::nullopt;
  }
  std::vector<ResolvedField> fields;
  for (ir::FieldOp field : job.block().getOps<ir::FieldOp>())
    fields.push_back(fieldOf(field.record()));
  return jobFromFields(job.record().file, fields, findings);
}

std::string jobFileOf(mlir::ModuleOp module) {
  ir::JobOp job = findJob(module);
  return job ? job.record().file : std::string();
}

mlir::Location locationOfField(mlir::ModuleOp module, std::string_view path) {
  if (ir::JobOp job = findJob(module))
    for (ir::FieldOp field : job.block().getOps<ir::FieldOp>())
      if (field.record().path == path)
        return field.getLoc();
  return mlir::UnknownLoc::get(module.getContext());
}

} // namespace vime
