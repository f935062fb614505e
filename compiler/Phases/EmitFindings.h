// Findings as MLIR diagnostics: the same words, at the user's line.
#pragma once

#include "compiler/Diagnostics/Findings.h"
#include "mlir/IR/MLIRContext.h"

namespace vime {

/// `job.yaml:14:21: error: error[C0101]: …`, with a note for each note, each end of a contradiction
/// and the help.
void emitFindings(const Findings &findings, mlir::MLIRContext *context);

} // namespace vime
