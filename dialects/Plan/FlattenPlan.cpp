#include "dialects/Plan/FlattenPlan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace vime::ir {
namespace {

// Builds a program's pool of operands.
class Pool {
public:
  explicit Pool(std::vector<std::uint32_t> &operands) : operands(operands) {}

  std::uint32_t place(mlir::DenseI32ArrayAttr uses) {
    const auto [found, isNew] =
        places.try_emplace(uses, static_cast<std::uint32_t>(operands.size()));
    if (isNew)
      for (const std::int32_t buffer : uses.asArrayRef())
        operands.push_back(static_cast<std::uint32_t>(buffer));
    return found->second;
  }

private:
  std::vector<std::uint32_t> &operands;
  llvm::DenseMap<mlir::Attribute, std::uint32_t> places;
};

class ProgramFlattener {
public:
  ProgramFlattener(plan::Program &program, Flatten what)
      : program(program), what(what), pool(program.operands) {}

  void run(mlir::Block &block) {
    for (mlir::Operation &op : block) {
      if (op.hasTrait<IsAction>() || llvm::isa<LoopOp, CaseOp>(op)) {
        if (what == Flatten::WithoutActions)
          return; // lanes and stages stand before all actions
        append(op);
      } else if (auto lane = llvm::dyn_cast<LaneOp>(op)) {
        program.lanes.push_back(lane.record());
      } else if (auto stage = llvm::dyn_cast<StageOp>(op)) {
        program.stages.push_back(stage.record());
      }
    }
  }

private:
  void append(mlir::Operation &op) {
    if (auto loop = llvm::dyn_cast<LoopOp>(op))
      return append(loop);
    if (auto one = llvm::dyn_cast<CaseOp>(op))
      return append(one);
    const ActionRecord &record = *op.getPropertiesStorage().as<ActionRecord *>();
    plan::Action &action = program.actions.emplace_back(record.action);
    if (record.uses)
      action.operands = pool.place(record.uses);
  }

  void append(LoopOp op) {
    const LoopHead &head = op.record();
    const std::size_t place = program.loops.size(); // before those in it
    program.loops.push_back({.id = head.id,
                             .begin = size(),
                             .trips = head.trips,
                             .start = head.start,
                             .period = head.period,
                             .until = head.until,
                             .perTrip = head.perTrip});
    for (mlir::Operation &inner : op.block())
      append(inner);
    program.loops[place].end = size();
  }

  void append(CaseOp op) {
    const std::uint32_t begin = size();
    for (mlir::Operation &inner : op.block())
      append(inner);
    program.cases.push_back({begin, size(), op.record().condition});
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(program.actions.size()); }

  plan::Program &program;
  const Flatten what;
  Pool pool;
};

std::string textOf(const JobText &job) {
  std::string text;
  for (std::size_t line = 0; line < job.lines.size(); ++line)
    text += (line ? "\n" : "") + job.lines[line];
  return text;
}

plan::Layout layoutOf(LayoutOp op) {
  plan::Layout layout{.arena = {op.record().device, op.record().host}};
  for (mlir::Operation &inner : op.block())
    if (auto buffer = llvm::dyn_cast<BufferOp>(inner))
      layout.buffers.push_back(buffer.record());
  return layout;
}

} // namespace

plan::Plan planFromOp(PlanOp op, Flatten what) {
  plan::Plan plan;
  plan.schedule = op.record().schedule;
  plan.compiler = op.record().compiler;
  plan.gradientOrder = op.record().gradientOrder;
  for (mlir::Operation &child : op.block())
    llvm::TypeSwitch<mlir::Operation *>(&child)
        .Case([&](ProgramOp program) {
          ProgramFlattener(plan.programs.emplace_back(), what).run(program.block());
        })
        .Case([&](LayoutOp layout) { plan.layouts.push_back(layoutOf(layout)); })
        .Case([&](MeshOp mesh) { plan.mesh = mesh.record(); })
        .Case([&](RanksOp ranks) {
          plan.programOf = ranks.record().programs;
          plan.layoutOf = ranks.record().layouts;
        })
        .Case([&](JobTextOp job) { plan.job = textOf(job.record()); })
        .Case([&](GroupOp group) { plan.groups.push_back(group.record()); })
        .Case([&](ModelOp model) { plan.models.push_back(model.record()); })
        .Case([&](ConnectOp connect) { plan.connect.push_back(connect.record()); })
        .Case([&](OriginOp origin) { plan.origins.push_back(origin.record()); })
        .Case([&](DecisionOp decision) { plan.decisions.push_back(decision.record()); })
        .Case([&](ConditionOp condition) { plan.conditions.push_back(condition.record()); })
        .Case([&](DataOp data) { plan.data = data.record(); })
        .Case([&](EvaluationOp evaluation) { plan.evaluation = evaluation.record(); })
        .Case([&](RoundOp round) { plan.round = round.record(); })
        .Case([&](OptimizerOp optimizer) { plan.optimizer = optimizer.record(); })
        .Case([&](CheckpointOp checkpoint) { plan.checkpoint = checkpoint.record(); })
        .Case([&](RunOp run) { plan.run = run.record(); })
        .Case([&](LimitsOp limits) { plan.limits = limits.record(); })
        .Case([&](PredictionsOp predictions) { plan.predictions = predictions.record(); });
  return plan;
}

PlanOp findPlan(mlir::ModuleOp module) {
  const auto plans = module.getOps<PlanOp>();
  return plans.empty() ? PlanOp() : *plans.begin();
}

std::optional<plan::Plan> planFromModule(mlir::ModuleOp module) {
  if (PlanOp op = findPlan(module))
    return planFromOp(op);
  return std::nullopt;
}

} // namespace vime::ir
