// plan.plan: its tables are there once each, and indices from one into another lead somewhere.
#include <vector>

#include "dialects/Plan/PlanDialect.h"
#include "runtime/Plan/Mesh.h"
#include "llvm/ADT/DenseSet.h"

namespace vime::ir {
namespace {

// Ops of which a plan has at most one.
bool isSingle(mlir::Operation &op) {
  return llvm::isa<MeshOp, RanksOp, JobTextOp, DataOp, EvaluationOp, RoundOp, OptimizerOp,
                   CheckpointOp, RunOp, LimitsOp, PredictionsOp>(op);
}

bool isPart(mlir::Operation &op) {
  return isSingle(op) || llvm::isa<GroupOp, DecisionOp, ConditionOp, ConnectOp, ProgramOp, LayoutOp,
                                   ModelOp, OriginOp>(op);
}

struct Parts {
  std::vector<std::size_t> stagesOf; // by model
  std::size_t groups = 0, programs = 0, layouts = 0;
  std::uint32_t ranks = 0; // that stand for all
};

mlir::LogicalResult collect(mlir::Block &block, Parts &parts) {
  llvm::DenseSet<mlir::TypeID> seen;
  for (mlir::Operation &op : block) {
    if (!isPart(op))
      return op.emitOpError("does not belong in a plan");
    if (isSingle(op) && !seen.insert(op.getName().getTypeID()).second)
      return op.emitOpError("is in the plan already");
    if (auto model = llvm::dyn_cast<ModelOp>(op))
      parts.stagesOf.push_back(model.record().stages.size());
    if (auto mesh = llvm::dyn_cast<MeshOp>(op))
      parts.ranks = plan::representatives(mesh.record());
    parts.groups += llvm::isa<GroupOp>(op);
    parts.programs += llvm::isa<ProgramOp>(op);
    parts.layouts += llvm::isa<LayoutOp>(op);
  }
  return mlir::success();
}

mlir::LogicalResult verifyProgramTables(ProgramOp program, const Parts &parts) {
  for (mlir::Operation &op : program.block()) {
    if (auto lane = llvm::dyn_cast<LaneOp>(op)) {
      if (lane.record().kind == plan::LaneKind::Group && lane.record().group >= parts.groups)
        return lane.emitOpError("is of group ") << lane.record().group << " of " << parts.groups;
    } else if (auto stage = llvm::dyn_cast<StageOp>(op)) {
      const auto [model, index] = stage.record();
      if (model >= parts.stagesOf.size())
        return stage.emitOpError("is of model ") << model << " of " << parts.stagesOf.size();
      if (index >= parts.stagesOf[model])
        return stage.emitOpError("is stage ")
               << index << " of a model of " << parts.stagesOf[model];
    } else {
      break; // actions follow
    }
  }
  return mlir::success();
}

mlir::LogicalResult verifyRanks(RanksOp ranks, const Parts &parts) {
  const auto &[programs, layouts] = ranks.record();
  if (programs.size() != parts.ranks || (!layouts.empty() && layouts.size() != parts.ranks))
    return ranks.emitOpError("is not about ") << parts.ranks << " ranks";
  for (const std::uint32_t program : programs)
    if (program >= parts.programs)
      return ranks.emitOpError("names program ") << program << " of " << parts.programs;
  for (const std::uint32_t layout : layouts)
    if (layout >= parts.layouts)
      return ranks.emitOpError("names layout ") << layout << " of " << parts.layouts;
  return mlir::success();
}

} // namespace

mlir::LogicalResult PlanOp::verifyRegions() {
  Parts parts;
  if (mlir::failed(collect(block(), parts)))
    return mlir::failure();
  if (parts.ranks == 0)
    return emitOpError("has no mesh");
  for (mlir::Operation &op : block()) {
    if (auto program = llvm::dyn_cast<ProgramOp>(op);
        program && mlir::failed(verifyProgramTables(program, parts)))
      return mlir::failure();
    if (auto ranks = llvm::dyn_cast<RanksOp>(op); ranks && mlir::failed(verifyRanks(ranks, parts)))
      return mlir::failure();
  }
  return mlir::success();
}

} // namespace vime::ir
