// plan.program: lanes, stages, actions in that order; what actions name exists and is of the right
// kind.
#include <vector>

#include "dialects/Plan/PlanDialect.h"
#include "runtime/Plan/Names.h"

namespace vime::ir {
namespace {

class ProgramCheck {
public:
  mlir::LogicalResult run(mlir::Block &block) {
    for (mlir::Operation &op : block)
      if (mlir::failed(visit(op)))
        return mlir::failure();
    return mlir::success();
  }

private:
  mlir::LogicalResult visit(mlir::Operation &op) {
    if (auto lane = llvm::dyn_cast<LaneOp>(op))
      return takeLane(lane);
    if (llvm::isa<StageOp>(op)) {
      if (begun)
        return op.emitOpError("stands behind actions; stages stand before them");
      ++stages;
      return mlir::success();
    }
    begun = true;
    return visitActions(op);
  }

  mlir::LogicalResult visitActions(mlir::Operation &op) {
    if (!llvm::isa<LoopOp, CaseOp>(op))
      return visitAction(op);
    for (mlir::Operation &inner : op.getRegion(0).front())
      if (mlir::failed(visitActions(inner)))
        return mlir::failure();
    return mlir::success();
  }

  mlir::LogicalResult takeLane(LaneOp lane) {
    if (begun)
      return lane.emitOpError("stands behind actions; lanes stand before them");
    if (lanes.size() == static_cast<std::size_t>(plan::Wait::kMaxLanes))
      return lane.emitOpError("is one too many: a program has at most ")
             << plan::Wait::kMaxLanes << " lanes";
    if (lanes.empty() && lane.record().kind != plan::LaneKind::Compute)
      return lane.emitOpError("is lane 0, which is the compute lane of every program");
    lanes.push_back(lane.record().kind);
    return mlir::success();
  }

  mlir::LogicalResult visitAction(mlir::Operation &op) {
    if (!op.hasTrait<IsAction>())
      return op.emitOpError("does not belong in a program");
    const plan::Action &action = op.getPropertiesStorage().as<ActionRecord *>()->action;
    const plan::Signature &signature =
        *plan::findSignature(action.opcode); // its own verifier has seen it
    if (action.lane >= lanes.size())
      return op.emitOpError("is on lane ") << unsigned{action.lane} << " of " << lanes.size();
    if (lanes[action.lane] != signature.lane)
      return op.emitOpError("is on a ")
             << word(lanes[action.lane]) << " lane, it needs a " << word(signature.lane) << " lane";
    if (action.stage >= stages && (signature.perStage || action.stage != 0))
      return op.emitOpError("is of stage ") << action.stage << " of " << stages;
    for (const plan::Wait wait : action.waits)
      if (!wait.empty() && static_cast<std::size_t>(wait.lane()) >= lanes.size())
        return op.emitOpError("waits for lane ") << wait.lane() << " of " << lanes.size();
    return mlir::success();
  }

  static llvm::StringRef word(plan::LaneKind kind) { return plan::nameOf(kind); }

  std::vector<plan::LaneKind> lanes;
  std::size_t stages = 0;
  bool begun = false; // an action was seen
};

} // namespace

mlir::LogicalResult ProgramOp::verifyRegions() { return ProgramCheck().run(block()); }

} // namespace vime::ir
