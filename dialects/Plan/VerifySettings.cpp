// Settings by themselves: a model's stages are its layers in order; an origin is a place.
#include "dialects/Plan/PlanDialect.h"
#include "runtime/ModelSpec/Copies.h"

namespace vime::ir {

mlir::LogicalResult ModelOp::verify() {
  const plan::Model &model = record();
  const std::size_t depth = depthOf(model.stages);
  std::uint32_t layer = 0;
  for (std::size_t index = 0; index < model.stages.size(); ++index) {
    const StageRange &stage = model.stages[index];
    const bool isFirst = index % depth == 0;
    const bool isLast = (index + 1) % depth == 0 || index + 1 == model.stages.size();
    layer = isFirst ? 0 : layer;
    if (stage.first != layer || stage.end < stage.first)
      return emitOpError("stage ") << index << " has layers " << stage.first << " to " << stage.end
                                   << ", expected it to begin at layer " << layer;
    if (stage.embedding != isFirst || stage.head != isLast)
      return emitOpError("stage ")
             << index << ": the first stage embeds, the last one has the head";
    if (stage != model.stages[index % depth])
      return emitOpError("stage ")
             << index << " differs from stage " << index % depth << ", of which it is a copy";
    layer = stage.end;
  }
  if (layer != model.config.layers)
    return emitOpError("has ") << model.config.layers << " layers, its stages " << layer;
  return mlir::success();
}

mlir::LogicalResult OriginOp::verify() {
  if (!plan::findSignature(record().opcode))
    return emitOpError("is of opcode ") << record().opcode << ", which nothing has";
  if (record().line > 0 && record().column == 0)
    return emitOpError("has a line without a column: both count from 1");
  return mlir::success();
}

} // namespace vime::ir
