// job.field: a path in lower case words, and an origin that can be shown.
#include <algorithm>

#include "dialects/Job/JobDialect.h"

namespace vime::ir {
namespace {

// A model's name, in the middle of a path, is the user's.
bool isPath(std::string_view path) {
  return !path.empty() && path.front() != '.' && path.back() != '.' &&
         path.find("..") == std::string_view::npos &&
         std::none_of(path.begin(), path.end(),
                      [](unsigned char letter) { return letter <= ' ' || letter == 0x7F; });
}

} // namespace

mlir::LogicalResult FieldOp::verify() {
  const JobField &field = record();
  if (!isPath(field.path))
    return emitOpError("has no path of words with dots between: `") << field.path << "`";
  if (field.line < 0 || field.column < 0 || field.length < 0)
    return emitOpError("stands at a negative place");
  if (field.origin == FieldOrigin::Given && field.line == 0)
    return emitOpError("`") << field.path << "` is given, but no line of the job gives it";
  if (field.origin == FieldOrigin::Derived && field.from.empty())
    return emitOpError("`") << field.path << "` is derived from nothing";
  if (field.origin != FieldOrigin::Derived && !field.from.empty())
    return emitOpError("`") << field.path << "` is not derived, yet it follows from `" << field.from
                            << "`";
  return mlir::success();
}

} // namespace vime::ir
