#include "dialects/Plan/PlanBuilder.h"

#include <algorithm>

namespace vime::ir {
namespace {

// Each loop lies in the one before it or behind it.
bool formATree(const std::vector<plan::Loop> &loops, std::uint32_t end) {
  std::vector<std::uint32_t> around = {end}; // ends of the loops around the latest one
  std::uint32_t begin = 0;
  for (const plan::Loop &loop : loops) {
    while (around.size() > 1 && around.back() <= loop.begin)
      around.pop_back();
    if (loop.begin < begin || loop.end < loop.begin || loop.end > around.back())
      return false;
    begin = loop.begin;
    around.push_back(loop.end);
  }
  return true;
}

// Cases stand one behind the other and cut no loop.
bool fit(const plan::Program &program) {
  std::uint32_t behind = 0;
  for (const plan::Case &one : program.cases) {
    if (one.begin < behind || one.end <= one.begin || one.end > program.actions.size())
      return false;
    behind = one.end;
    for (const plan::Loop &loop : program.loops) {
      const bool apart = loop.end <= one.begin || one.end <= loop.begin;
      const bool inside = one.begin <= loop.begin && loop.end <= one.end;
      if (!apart && !inside && !(loop.begin <= one.begin && one.end <= loop.end))
        return false;
    }
  }
  return true;
}

bool hasForm(const plan::Program &program) {
  if (!formATree(program.loops, static_cast<std::uint32_t>(program.actions.size())) ||
      !fit(program))
    return false;
  return std::all_of(program.actions.begin(), program.actions.end(),
                     [&](const plan::Action &action) {
                       return action.operands <= program.operands.size() &&
                              action.operandCount <= program.operands.size() - action.operands &&
                              plan::findSignature(action.opcode);
                     });
}

// A loop or a case.
struct Enclosure {
  const plan::Loop *loop = nullptr;
  const plan::Case *one = nullptr;
  std::uint32_t begin() const { return loop ? loop->begin : one->begin; }
  std::uint32_t end() const { return loop ? loop->end : one->end; }
};

// Outer ones before inner ones, loops in the order of their table. Of the same actions a case holds
// the loop that lies in another one, and lies in a loop that does not.
std::vector<Enclosure> enclosuresOf(const plan::Program &program) {
  std::vector<Enclosure> all;
  auto next = program.cases.begin();
  std::uint32_t outermostEnd = 0; // of the latest loop that lies in no other
  for (const plan::Loop &loop : program.loops) {
    const bool isInner = loop.begin < outermostEnd;
    while (next != program.cases.end() &&
           (next->begin < loop.begin ||
            (next->begin == loop.begin &&
             (next->end > loop.end || (next->end == loop.end && isInner)))))
      all.push_back({.one = &*next++});
    all.push_back({.loop = &loop});
    outermostEnd = std::max(outermostEnd, loop.end);
  }
  for (; next != program.cases.end(); ++next)
    all.push_back({.one = &*next});
  return all;
}

// `rank3`: after the first rank that has it.
std::string nameOf(const char *what, const std::vector<std::uint32_t> &byRank, std::size_t index) {
  const auto first = std::find(byRank.begin(), byRank.end(), index);
  return what + (first == byRank.end() ? "_of_none" + std::to_string(index)
                                       : std::to_string(first - byRank.begin()));
}

JobText linesOf(const std::string &text) {
  JobText job;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    job.lines.push_back(text.substr(begin, end - begin));
  job.lines.push_back(text.substr(begin));
  return job;
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

ActionRecord UsesOfProgram::recordOf(const plan::Action &action) {
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

bool isWellFormed(const plan::Plan &plan) {
  return std::all_of(plan.programs.begin(), plan.programs.end(), hasForm);
}

void PlanBuilder::tables(const plan::Plan &plan) {
  add<MeshOp>(plan.mesh);
  if (!plan.job.empty())
    add<JobTextOp>(linesOf(plan.job));
  addAll<ModelOp>(plan.models);
  addUnlessEmpty<DataOp>(plan.data);
  addUnlessEmpty<EvaluationOp>(plan.evaluation);
  addUnlessEmpty<RoundOp>(plan.round);
  addUnlessEmpty<OptimizerOp>(plan.optimizer);
  addUnlessEmpty<CheckpointOp>(plan.checkpoint);
  addUnlessEmpty<RunOp>(plan.run);
  addUnlessEmpty<LimitsOp>(plan.limits);
  addUnlessEmpty<PredictionsOp>(plan.predictions);
  addAll<GroupOp>(plan.groups);
  addAll<DecisionOp>(plan.decisions);
  addAll<ConditionOp>(plan.conditions);
  addAll<ConnectOp>(plan.connect);
  addAll<OriginOp>(plan.origins);
  addUnlessEmpty<RanksOp>(RanksRecord{plan.programOf, plan.layoutOf});
  for (std::size_t index = 0; index < plan.layouts.size(); ++index)
    layout(plan.layouts[index], nameOf("layout", plan.layoutOf, index));
}

void PlanBuilder::program(const plan::Plan &plan, std::size_t index) {
  fillProgram(add<ProgramOp>(ProgramHead{nameOf("rank", plan.programOf, index)}).block(),
              plan.programs[index]);
}

void PlanBuilder::fillProgram(mlir::Block &block, const plan::Program &program) {
  lanesAndStages(block, program);
  UsesOfProgram uses(builder.getContext(), program.operands);
  std::uint32_t action = 0;
  const std::vector<Enclosure> enclosures = enclosuresOf(program);
  auto next = enclosures.begin();
  auto appendUntil = [&](mlir::Block &into, std::uint32_t end) {
    for (; action < end; ++action)
      appender.append(into, uses.recordOf(program.actions[action]));
  };
  // The actions up to `end`, and the loops and cases that begin before it.
  auto fill = [&](auto &self, mlir::Block &into, std::uint32_t end, bool isOutermost) -> void {
    while (next != enclosures.end() && (isOutermost || next->begin() < end)) {
      const Enclosure inner = *next++;
      appendUntil(into, inner.begin());
      self(self, enclose(into, inner.loop, inner.one), inner.end(), /*isOutermost=*/false);
    }
    appendUntil(into, end);
  };
  fill(fill, block, static_cast<std::uint32_t>(program.actions.size()), /*isOutermost=*/true);
}

mlir::Block &PlanBuilder::enclose(mlir::Block &into, const plan::Loop *loop,
                                  const plan::Case *one) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&into);
  return loop ? add<LoopOp>(LoopHead{loop->id, loop->trips, loop->start, loop->period, loop->until,
                                     loop->perTrip})
                    .block()
              : add<CaseOp>(CaseHead{one->condition}).block();
}

void PlanBuilder::lanesAndStages(mlir::Block &block, const plan::Program &program) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  addAll<LaneOp>(program.lanes);
  addAll<StageOp>(program.stages);
}

void PlanBuilder::layout(const plan::Layout &layout, const std::string &name) {
  LayoutOp op = add<LayoutOp>(LayoutHead{name, layout.arena[0], layout.arena[1]});
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&op.block());
  addAll<BufferOp>(layout.buffers);
}

} // namespace vime::ir
