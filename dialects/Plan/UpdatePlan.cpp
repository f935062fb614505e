#include "dialects/Plan/UpdatePlan.h"

#include <algorithm>

#include "dialects/Plan/PlanBuilder.h"

namespace vime::ir {
namespace {

// The ops of a program's actions in dispatch order, and those of its loops and cases.
class OpsInPlace {
public:
  explicit OpsInPlace(mlir::Block &block) { collect(block); }

  /// Whether they are of the same kinds as in `program`, and loops and cases begin and end where
  /// they do there.
  bool match(const plan::Program &program) const {
    return std::equal(records.begin(), records.end(), program.actions.begin(),
                      program.actions.end(),
                      [](const ActionRecord *record, const plan::Action &action) {
                        return record->action.opcode == action.opcode;
                      }) &&
           std::equal(loops.begin(), loops.end(), program.loops.begin(), program.loops.end(),
                      isAt<LoopOp, plan::Loop>) &&
           std::equal(cases.begin(), cases.end(), program.cases.begin(), program.cases.end(),
                      isAt<CaseOp, plan::Case>);
  }

  void write(const plan::Program &program, mlir::MLIRContext *context) {
    UsesOfProgram uses(context, program.operands);
    for (std::size_t index = 0; index < records.size(); ++index)
      *records[index] = uses.recordOf(program.actions[index]);
    for (std::size_t index = 0; index < loops.size(); ++index) {
      const plan::Loop &loop = program.loops[index];
      loops[index].op.record() = {loop.id,     loop.trips, loop.start,
                                  loop.period, loop.until, loop.perTrip};
    }
    for (std::size_t index = 0; index < cases.size(); ++index)
      cases[index].op.record() = {program.cases[index].condition};
  }

private:
  template <typename Op> struct Place {
    Op op;
    std::size_t begin = 0, end = 0;
  };
  template <typename Op, typename Range>
  static bool isAt(const Place<Op> &here, const Range &range) {
    return here.begin == range.begin && here.end == range.end;
  }

  void collect(mlir::Block &block) {
    for (mlir::Operation &op : block)
      if (op.hasTrait<IsAction>()) {
        records.push_back(op.getPropertiesStorage().as<ActionRecord *>());
      } else if (auto loop = llvm::dyn_cast<LoopOp>(op)) {
        const std::size_t place = loops.size();
        loops.push_back({loop, records.size()});
        collect(loop.block());
        loops[place].end = records.size();
      } else if (auto one = llvm::dyn_cast<CaseOp>(op)) {
        const std::size_t place = cases.size();
        cases.push_back({one, records.size()});
        collect(one.block());
        cases[place].end = records.size();
      }
  }

  std::vector<ActionRecord *> records;
  std::vector<Place<LoopOp>> loops;
  std::vector<Place<CaseOp>> cases;
};

void updateProgram(ProgramOp op, const plan::Program &program, PlanBuilder &builder) {
  OpsInPlace ops(op.block());
  if (!ops.match(program)) {
    op.block().clear();
    builder.fillProgram(op.block(), program);
    return;
  }
  ops.write(program, op.getContext());
  while (!op.block().empty() && llvm::isa<LaneOp, StageOp>(op.block().front()))
    op.block().front().erase();
  builder.lanesAndStages(op.block(), program);
}

} // namespace

bool updatePlan(PlanOp op, const plan::Plan &plan) {
  if (!isWellFormed(plan))
    return false;
  op.record() = {plan.schedule, plan.compiler, plan.gradientOrder};
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
