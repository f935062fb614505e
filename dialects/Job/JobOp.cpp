// job.job: a table of fields, each path once.
#include <set>

#include "dialects/Job/JobDialect.h"

namespace vime::ir {

mlir::LogicalResult JobOp::verify() {
  std::set<std::string_view> paths;
  for (mlir::Operation &op : block()) {
    auto field = llvm::dyn_cast<FieldOp>(op);
    if (!field)
      return op.emitOpError("is no field: a job holds nothing else");
    if (!paths.insert(field.record().path).second)
      return field.emitOpError("`") << field.record().path << "` is in the job already";
  }
  return mlir::success();
}

} // namespace vime::ir
