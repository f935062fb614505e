// Structure ops by themselves: mesh, groups, connect rounds, lanes, buffers, layouts, loops.
#include <algorithm>
#include <functional>
#include <set>

#include "dialects/Plan/PlanDialect.h"
#include "runtime/Plan/Names.h"

namespace vime::ir {

mlir::LogicalResult MeshOp::verify() {
  const plan::Mesh &mesh = record();
  if (mesh.pipeline == 0 || mesh.data == 0 || mesh.context == 0 || mesh.tensor == 0)
    return emitOpError("has an axis of size 0");
  return mlir::success();
}

mlir::LogicalResult GroupOp::verify() {
  if (record().axes == 0 || record().axes >= 1u << plan::namesOf<plan::Axis>().size())
    return emitOpError("runs along no known axis: `axes` is ") << unsigned{record().axes};
  if (record().message.perToken != 0)
    return emitOpError("has a message that depends on tokens; groups carry fixed bytes");
  return mlir::success();
}

mlir::LogicalResult ConnectOp::verify() {
  std::set<std::uint32_t> busy;
  for (const auto &[low, high] : record().pairs) {
    if (low >= high)
      return emitOpError("has the pair ") << low << ":" << high << ", the lower rank stands first";
    for (const std::uint32_t rank : {low, high})
      if (!busy.insert(rank).second)
        return emitOpError("needs rank ") << rank << " twice in one round";
  }
  return mlir::success();
}

mlir::LogicalResult LaneOp::verify() {
  const plan::Lane &lane = record();
  const bool transfers = lane.kind == plan::LaneKind::Send || lane.kind == plan::LaneKind::Receive;
  if (transfers && lane.message.fixed == 0 && lane.message.perToken == 0)
    return emitOpError("carries messages of no bytes");
  if (transfers && lane.peer.axis != plan::Axis::Pipeline)
    return emitOpError("leads along another axis than pp");
  return mlir::success();
}

mlir::LogicalResult BufferOp::verify() {
  const plan::Buffer &buffer = record();
  if (buffer.count == 0)
    return emitOpError("has no slot");
  if (buffer.stride < buffer.bytes)
    return emitOpError("has slots of ") << buffer.bytes << " bytes, " << buffer.stride << " apart";
  return mlir::success();
}

mlir::LogicalResult LayoutOp::verify() {
  for (mlir::Operation &op : block())
    if (!llvm::isa<BufferOp>(op))
      return op.emitOpError("is no buffer: a layout holds nothing else");
  return mlir::success();
}

mlir::LogicalResult DecisionOp::verify() {
  const std::vector<std::uint32_t> &values = record().values;
  if (values.empty())
    return emitOpError("has no value");
  if (std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) != values.end())
    return emitOpError("has values that do not ascend");
  return mlir::success();
}

mlir::LogicalResult CaseOp::verify() {
  if (block().empty())
    return emitOpError("is empty");
  for (mlir::Operation &op : block())
    if (!op.hasTrait<IsAction>() && !llvm::isa<LoopOp>(op))
      return op.emitOpError("is no action: a case holds those and loops");
  return mlir::success();
}

mlir::LogicalResult LoopOp::verify() {
  for (mlir::Operation &op : block())
    if (!op.hasTrait<IsAction>() && !llvm::isa<LoopOp, CaseOp>(op))
      return op.emitOpError("is no action: a loop holds those, loops and cases");
  auto outer = (*this)->getParentOfType<LoopOp>();
  if (outer && outer->getParentOfType<LoopOp>())
    return emitOpError("lies in two others: steps, and in them microbatches, are all there is");
  if (outer && record().until != 0)
    return emitOpError("ends on a condition, which only a loop over steps may");
  if (record().period <= 0)
    return emitOpError("has period ") << record().period << ", time must pass";
  return mlir::success();
}

} // namespace vime::ir
