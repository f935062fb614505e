#include "compiler/Phases/Passes.h"

#include "mlir/Pass/PassRegistry.h"

namespace vime {

void registerPhases() {
  mlir::registerPass([] { return createOrderPhase(); });
  mlir::registerPass([] { return createCommPhase(); });
  mlir::registerPass([] { return createMemoryPhase(); });
  mlir::registerPass([] { return createPlanPhase(); });
  mlir::registerPass([] { return createVerifyPlan(); });
}

} // namespace vime
