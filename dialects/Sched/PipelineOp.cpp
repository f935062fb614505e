// sched.pipeline: its text, and its verifier: every index in range, every task on the rank that
// holds its stage.
//
// Whether the order is complete and can finish is for the rules S1 and S2.
#include "dialects/Sched/SchedDialect.h"

namespace vime::ir {

mlir::ParseResult PipelineOp::parse(mlir::OpAsmParser &parser, mlir::OperationState &state) {
  PipelineRecord &pipeline = state.getOrAddProperties<Properties>().record;
  ParseFields fields(parser);
  visitFields(fields, pipeline);
  if (fields.result() || parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseLBrace())
    return mlir::failure();
  while (mlir::failed(parser.parseOptionalRBrace())) {
    const llvm::SMLoc place = parser.getCurrentLocation();
    std::size_t rank = 0, where = 0;
    std::string text;
    if (parser.parseKeyword("rank") || parser.parseInteger(rank) || parser.parseColon())
      return mlir::failure();
    if (rank != pipeline.schedule.rows.size())
      return parser.emitError(place, "expected the row of rank ") << pipeline.schedule.rows.size();
    const llvm::SMLoc begin = parser.getCurrentLocation();
    if (parser.parseString(&text))
      return mlir::failure();
    if (!parseRow(text, pipeline.schedule.rows.emplace_back(), where))
      return parser.emitError(llvm::SMLoc::getFromPointer(begin.getPointer() + 1 + where),
                              "expected a task like `0F1`, `0B1`, `0I1` or `0W1`, or `.`");
  }
  return mlir::success();
}

void PipelineOp::print(mlir::OpAsmPrinter &printer) {
  PrintFields fields(printer);
  visitFields(fields, record());
  printer.printOptionalAttrDictWithKeyword((*this)->getDiscardableAttrDictionary().getValue());
  printer << " {";
  printer.increaseIndent();
  for (std::size_t rank = 0; rank < record().schedule.rows.size(); ++rank) {
    printer.printNewline();
    printer << "rank " << rank << " : \"" << rowText(record().schedule.rows[rank]) << '"';
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << '}';
}

mlir::LogicalResult PipelineOp::verify() {
  const Placement &placement = record().schedule.placement;
  const auto &rows = record().schedule.rows;
  const int ranks = static_cast<int>(rows.size()), stages = static_cast<int>(placement.size());
  const int microbatches = static_cast<int>(record().microbatches);
  if (placement.empty())
    return emitOpError("places no stage");
  const int copies = record().schedule.copies, slices = record().schedule.slices;
  if (copies < 1 || stages % copies != 0 || slices < 1 || microbatches % slices != 0)
    return emitOpError("has ") << stages << " stages in " << copies << " copies and "
                               << microbatches << " microbatches in slices of " << slices;
  for (int stage = 0; stage < stages; ++stage)
    if (placement[stage] < 0 || placement[stage] >= ranks)
      return emitOpError("places stage ")
             << stage << " on rank " << placement[stage] << " of " << ranks;
  for (int rank = 0; rank < ranks; ++rank)
    for (std::size_t position = 0; position < rows[rank].size(); ++position) {
      const Task &task = rows[rank][position];
      if (task.kind == TaskKind::Idle)
        continue;
      if (task.stage >= stages)
        return emitOpError("rank ")
               << rank << ", task " << position << ": stage " << task.stage << " of " << stages;
      if (placement[task.stage] != rank)
        return emitOpError("rank ") << rank << ", task " << position << ": stage " << task.stage
                                    << " lives on rank " << placement[task.stage];
      if (task.microbatch >= microbatches)
        return emitOpError("rank ") << rank << ", task " << position << ": microbatch "
                                    << task.microbatch << " of " << microbatches;
    }
  return mlir::success();
}

} // namespace vime::ir
