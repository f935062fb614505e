// vime-opt: runs single phases over IR in text form, and judges edited plans. For tests and for
// looking.
#include "compiler/Phases/Passes.h"
#include "dialects/Job/JobDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "dialects/Sched/SchedDialect.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<vime::ir::JobDialect, vime::ir::PlanDialect, vime::ir::SchedDialect>();
  vime::registerPhases();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "the phases of vime, one by one\n", registry));
}
