#include "compiler/Phases/EmitFindings.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace vime {
namespace {

mlir::Location locationOf(const SourceSpan &span, mlir::MLIRContext *context) {
  if (span.file.empty() || span.line <= 0)
    return mlir::UnknownLoc::get(context);
  return mlir::FileLineColLoc::get(context, span.file, span.line, span.column);
}

std::string textOf(const Note &note) {
  if (!note.action)
    return note.text;
  const char *end = note.end == Note::End::From ? "from "
                    : note.end == Note::End::To ? "to   "
                                                : "";
  return end + ("rank " + std::to_string(note.action->rank)) + ", action " +
         std::to_string(note.action->action) + (note.text.empty() ? "" : ": " + note.text);
}

void emit(const Finding &finding, mlir::MLIRContext *context) {
  const mlir::Location place = locationOf(finding.span, context);
  mlir::InFlightDiagnostic error = mlir::emitError(place);
  error << "error[" << codeOf(finding.rule, finding.number) << "]: " << finding.message;
  if (!finding.spanLabel.empty())
    error.attachNote(place) << finding.spanLabel;
  for (const Note &note : finding.notes)
    error.attachNote(note.span ? locationOf(*note.span, context) : place) << textOf(note);
  if (!finding.help.empty())
    error.attachNote(place) << "help: " << finding.help;
}

} // namespace

void emitFindings(const Findings &findings, mlir::MLIRContext *context) {
  for (const Finding &finding : findings.all())
    emit(finding, context);
}

} // namespace vime
