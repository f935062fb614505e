// PhasePass: what the passes of all phases have in common. A phase says `bool run(module,
// findings)`; what it finds goes to whoever asked for findings, else out as MLIR diagnostics.
#pragma once

#include "compiler/Phases/EmitFindings.h"
#include "dialects/Job/JobDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "dialects/Sched/SchedDialect.h"
#include "mlir/Pass/Pass.h"

namespace vime {

template <typename Phase>
class PhasePass : public mlir::PassWrapper<Phase, mlir::OperationPass<mlir::ModuleOp>> {
public:
  explicit PhasePass(Findings *report) : report(report) {}
  PhasePass(const PhasePass &other) = default;

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<ir::JobDialect, ir::PlanDialect, ir::SchedDialect>();
  }

  void runOnOperation() final {
    Findings own;
    Findings &findings = report ? *report : own;
    const std::size_t before = findings.size();
    const bool done = static_cast<Phase *>(this)->run(this->getOperation(), findings);
    if (!report)
      emitFindings(own, &this->getContext());
    if (!done || findings.size() > before)
      this->signalPassFailure();
  }

protected:
  /// Says why at the op's location and returns false. Not by the op itself: it would print its
  /// whole content behind the message.
  static bool refuse(mlir::Operation *op, const llvm::Twine &why) {
    mlir::emitError(op->getLoc(), why);
    return false;
  }

private:
  Findings *report;
};

} // namespace vime
