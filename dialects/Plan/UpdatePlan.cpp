#include "dialects/Plan/UpdatePlan.h"

#include "dialects/Plan/PlanBuilder.h"

namespace vime::ir {
namespace {

// The ops of a program's actions in dispatch order, if loops begin and end where they do in
// `program`.
class ActionsInPlace {
public:
  explicit ActionsInPlace(const plan::Program &program) : program(program) {
    records.reserve(program.actions.size());
  }

  bool find(mlir::Block &block) {
    for (mlir::Operation &op : block)
      if (auto loop = llvm::dyn_cast<LoopOp>(op)) {
        const std::size_t begin = records.size();
        addActions(loop.block());
        if (!takeLoop(loop, begin))
          return false;
      } else if (op.hasTrait<IsAction>()) {
        add(op);
      }
    return loops == program.loops.size() && records.size() == program.actions.size();
  }

  /// False if an action has become another one.
  bool matches() const {
    for (std::size_t index = 0; index < records.size(); ++index)
      if (records[index]->action.opcode != program.actions[index].opcode)
        return false;
    return true;
  }

  void write(mlir::MLIRContext *context) {
    UsesOfProgram uses(context, program.operands);
    for (std::size_t index = 0; index < records.size(); ++index)
      *records[index] = uses.recordOf(program.actions[index]);
  }

private:
  void add(mlir::Operation &op) {
    records.push_back(op.getPropertiesStorage().as<ActionRecord *>());
  }
  void addActions(mlir::Block &block) {
    for (mlir::Operation &op : block)
      add(op);
  }
  bool takeLoop(LoopOp op, std::size_t begin) {
    if (loops == program.loops.size())
      return false;
    const plan::Loop &loop = program.loops[loops++];
    op.record() = {loop.id, loop.trips, loop.start, loop.period};
    return loop.begin == begin && loop.end == records.size();
  }

  const plan::Program &program;
  std::vector<ActionRecord *> records;
  std::size_t loops = 0;
};

void updateProgram(ProgramOp op, const plan::Program &program, PlanBuilder &builder) {
  ActionsInPlace actions(program);
  if (!actions.find(op.block()) || !actions.matches()) {
    op.block().clear();
    builder.fillProgram(op.block(), program);
    return;
  }
  actions.write(op.getContext());
  while (!op.block().empty() && llvm::isa<LaneOp, StageOp>(op.block().front()))
    op.block().front().erase();
  builder.lanesAndStages(op.block(), program);
}

} // namespace

bool updatePlan(PlanOp op, const plan::Plan &plan) {
  if (!isWellFormed(plan))
    return false;
  op.record() = {plan.schedule, plan.compiler};
  std::vector<ProgramOp> programs;
  for (mlir::Operation &child : llvm::make_early_inc_range(op.block())) {
    if (auto program = llvm::dyn_cast<ProgramOp>(child))
      programs.push_back(program);
    else
      child.erase();
  }
  // Tables first, so that a printed plan begins with what all share.
  PlanBuilder(mlir::OpBuilder::atBlockBegin(&op.block()), op.getLoc()).tables(plan);
  PlanBuilder atEnd(mlir::OpBuilder::atBlockEnd(&op.block()), op.getLoc());
  for (std::size_t index = 0; index < plan.programs.size(); ++index) {
    if (index < programs.size())
      updateProgram(programs[index], plan.programs[index], atEnd);
    else
      atEnd.program(plan, index);
  }
  return true;
}

} // namespace vime::ir
