#include "dialects/Plan/BuildPlan.h"

#include <algorithm>

#include "mlir/IR/Builders.h"

namespace vime::ir {
namespace {

// Lists of operands as attributes. Actions that differ in the microbatch share their place in the
// pool, and so the list.
class UsesOfProgram {
public:
  UsesOfProgram(mlir::MLIRContext *context, const std::vector<std::uint32_t> &pool)
      : context(context), pool(pool), known(pool.size()) {}

  ActionRecord recordOf(const plan::Action &action) {
    ActionRecord record{action, {}};
    record.action.operands = 0;
    if (action.operandCount == 0)
      return record;
    auto &[count, uses] = known[action.operands];
    if (count != action.operandCount) {
      const auto *first =
          reinterpret_cast<const std::int32_t *>(pool.data() + action.operands); // kNoBuffer is -1
      count = action.operandCount;
      uses = mlir::DenseI32ArrayAttr::get(context, {first, count});
    }
    record.uses = uses;
    return record;
  }

private:
  struct Known {
    std::size_t count = 0;
    mlir::DenseI32ArrayAttr uses;
  };
  mlir::MLIRContext *context;
  const std::vector<std::uint32_t> &pool;
  std::vector<Known> known; // by place of the first operand
};

bool isWellFormed(const plan::Program &program) {
  std::uint32_t end = 0;
  for (const plan::Loop &loop : program.loops) {
    if (loop.begin < end || loop.end < loop.begin || loop.end > program.actions.size())
      return false;
    end = loop.end;
  }
  return std::all_of(program.actions.begin(), program.actions.end(),
                     [&](const plan::Action &action) {
                       return action.operands <= program.operands.size() &&
                              action.operandCount <= program.operands.size() - action.operands &&
                              plan::findSignature(action.opcode);
                     });
}

class PlanBuilder {
public:
  PlanBuilder(mlir::OpBuilder where, mlir::Location location)
      : builder(where), location(location), appender(location) {}

  void tables(const plan::Plan &plan) {
    add<MeshOp>(plan.mesh);
    if (!plan.job.empty())
      add<JobTextOp>(linesOf(plan.job));
    addAll<ModelOp>(plan.models);
    if (plan.data != plan::DataSettings())
      add<DataOp>(plan.data);
    if (plan.optimizer != plan::OptimizerSettings())
      add<OptimizerOp>(plan.optimizer);
    if (plan.run != plan::RunSettings())
      add<RunOp>(plan.run);
    if (plan.limits != plan::Limits())
      add<LimitsOp>(plan.limits);
    if (plan.predictions != plan::Predictions())
      add<PredictionsOp>(plan.predictions);
    addAll<GroupOp>(plan.groups);
    addAll<ConnectOp>(plan.connect);
    addAll<OriginOp>(plan.origins);
    if (!plan.programOf.empty() || !plan.layoutOf.empty())
      add<RanksOp>(RanksRecord{plan.programOf, plan.layoutOf});
    for (std::size_t index = 0; index < plan.layouts.size(); ++index)
      layout(plan.layouts[index], nameOf("layout", plan.layoutOf, index));
  }

  void programs(const plan::Plan &plan) {
    for (std::size_t index = 0; index < plan.programs.size(); ++index)
      program(plan.programs[index], nameOf("rank", plan.programOf, index));
  }

  void program(const plan::Program &program, const std::string &name) {
    fillProgram(add<ProgramOp>(ProgramHead{name}).block(), program);
  }

  void fillProgram(mlir::Block &block, const plan::Program &program) {
    lanesAndStages(block, program);
    UsesOfProgram uses(builder.getContext(), program.operands);
    std::uint32_t next = 0;
    auto appendUntil = [&](mlir::Block &into, std::uint32_t end) {
      for (; next < end; ++next)
        appender.append(into, uses.recordOf(program.actions[next]));
    };
    for (const plan::Loop &loop : program.loops) {
      appendUntil(block, loop.begin);
      mlir::OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(&block);
      appendUntil(add<LoopOp>(LoopHead{loop.id, loop.trips, loop.start, loop.period}).block(),
                  loop.end);
    }
    appendUntil(block, static_cast<std::uint32_t>(program.actions.size()));
  }

  void lanesAndStages(mlir::Block &block, const plan::Program &program) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    addAll<LaneOp>(program.lanes);
    addAll<StageOp>(program.stages);
  }

private:
  template <typename Op, typename Record> Op add(const Record &record) {
    return builder.create<Op>(location, record);
  }
  template <typename Op, typename Record> void addAll(const std::vector<Record> &records) {
    for (const Record &record : records)
      add<Op>(record);
  }

  void layout(const plan::Layout &layout, const std::string &name) {
    LayoutOp op = add<LayoutOp>(LayoutHead{name, layout.arena[0], layout.arena[1]});
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&op.block());
    addAll<BufferOp>(layout.buffers);
  }

  // `rank3`: after the first rank that has it.
  static std::string nameOf(const char *what, const std::vector<std::uint32_t> &byRank,
                            std::size_t index) {
    const auto first = std::find(byRank.begin(), byRank.end(), index);
    return what + (first == byRank.end() ? "_of_none" + std::to_string(index)
                                         : std::to_string(first - byRank.begin()));
  }

  static JobText linesOf(const std::string &text) {
    JobText job;
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      job.lines.push_back(text.substr(begin, end - begin));
    job.lines.push_back(text.substr(begin));
    return job;
  }

  mlir::OpBuilder builder;
  mlir::Location location;
  ActionAppender appender;
};

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

ActionAppender::ActionAppender(mlir::Location location)
    : location(location), noAttributes(mlir::DictionaryAttr::get(location.getContext())) {
  for (const plan::Signature &signature : plan::signatures()) {
    if (nameOf.size() <= code(signature.opcode))
      nameOf.resize(code(signature.opcode) + 1u);
    nameOf[code(signature.opcode)] = static_cast<std::uint8_t>(names.size());
    names.emplace_back("plan." + std::string(signature.name), location.getContext());
  }
}

void ActionAppender::append(mlir::Block &block, const ActionRecord &record) {
  // Without the detour over OperationState: half the time. The ops of all actions keep an
  // ActionRecord and no more.
  static_assert(sizeof(ForwardOp::Properties) == sizeof(ActionRecord));
  block.push_back(mlir::Operation::create(
      location, names[nameOf[record.action.opcode]], mlir::TypeRange(), mlir::ValueRange(),
      noAttributes, mlir::OpaqueProperties(const_cast<ActionRecord *>(&record)), mlir::BlockRange(),
      /*numRegions=*/0));
}

PlanOp appendPlan(mlir::ModuleOp module, const plan::Plan &plan, mlir::Location location) {
  if (!std::all_of(plan.programs.begin(), plan.programs.end(), isWellFormed))
    return {};
  auto builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  auto op = builder.create<PlanOp>(location, PlanHead{plan.schedule, plan.compiler});
  PlanBuilder content(mlir::OpBuilder::atBlockEnd(&op.block()), location);
  content.tables(plan);
  content.programs(plan);
  return op;
}

mlir::OwningOpRef<mlir::ModuleOp> moduleFromPlan(mlir::MLIRContext *context,
                                                 const plan::Plan &plan) {
  const mlir::Location location = mlir::UnknownLoc::get(context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location);
  return appendPlan(*module, plan, location) ? std::move(module) : nullptr;
}

bool updatePlan(PlanOp op, const plan::Plan &plan) {
  if (!std::all_of(plan.programs.begin(), plan.programs.end(), isWellFormed))
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
      atEnd.program(plan.programs[index], "rank" + std::to_string(index));
  }
  return true;
}

} // namespace vime::ir
