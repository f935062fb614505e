// D1: a decision is received before its first use, on every path: in the same step, in front of
// every guard, case, loop and end of a loop that asks for it, stands what brings it: the step
// header, by the broadcast that all ranks take part in (the coordinator's own included, so that it
// has decided by then), or the scalars, by `clip` or `settle`.
//
// What stands in a case or behind a guard brings nothing to those outside: it may be skipped.
// A header that was changed (by an evaluation) is broadcast again before the next question, and by
// the first rank of a replica after the coordinator has told it. Engines get it before a step is
// packed, and so never know how many microbatches it has: what they do does not depend on that.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/DecisionUses.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Names.h"

namespace vime::verify {
namespace {

using namespace plan;

class Arrivals {
public:
  Arrivals(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), program(*rank.program), verdict(verdict) {}

  void judge() {
    for (const DecisionUse &use : decisionUsesOf(program))
      judge(use);
  }

private:
  void judge(const DecisionUse &use) {
    const Decision decision = use.kind == DecisionUse::Kind::Trips
                                  ? Decision::Microbatches
                                  : table.plan().conditions[use.condition - 1].decision;
    bool arrived = false;
    std::uint32_t changed = kNone; // by the latest action that changes the header on this rank
    std::uint8_t missing = 0;      // axes along which it has not been sent since then
    for (std::uint32_t action = use.from; action < use.action; ++action) {
      const bool certain = program.actions[action].guard == 0 && isCertain(use, action);
      if (!isOfScalars(decision) && changesHeader(action)) {
        changed = action;
        missing = axesOf(action);
      }
      if (certain && brings(action, decision))
        arrived = true;
      if (changed != kNone && brings(action, Decision::Microbatches) && isBeside(changed, action))
        missing &= static_cast<std::uint8_t>(~groupOf(action).axes);
      if (!isOfScalars(decision) && isFromCoordinator(action)) {
        changed = action;
        missing = table.plan().mesh.pipeline > 1 ? bitOf(Axis::Pipeline) : std::uint8_t{0};
      }
      if (missing == 0)
        changed = kNone;
    }
    if (!arrived)
      fault(1, use, kNone,
            fmt::format("asks for `{}`, which has not arrived by then", wordOf(decision)));
    else if (decision == Decision::Microbatches && table.plan().mesh.isEngine(rank.rank) &&
             !decidesNothing(use))
      fault(2, use, kNone,
            "asks for `microbatches` in a header that is changed and not sent again");
    else if (changed != kNone)
      fault(2, use, changed,
            fmt::format("asks for `{}` in a header that was changed and not sent again",
                        wordOf(decision)));
  }

  /// A case in which nothing happens: it stands there because others have it.
  bool decidesNothing(const DecisionUse &use) const {
    if (use.kind == DecisionUse::Kind::Guard)
      return program.actions[use.action].opcode == code(Opcode::Join);
    const Case *one = caseAround(program, use.action);
    return use.kind == DecisionUse::Kind::Case &&
           std::all_of(program.actions.begin() + one->begin, program.actions.begin() + one->end,
                       [](const Action &action) { return action.opcode == code(Opcode::Join); });
  }

  /// Whoever asks has come through here.
  bool isCertain(const DecisionUse &use, std::uint32_t action) const {
    const Case *one = caseAround(program, action);
    return one == nullptr || one == use.within;
  }

  /// Both run, or neither.
  bool isBeside(std::uint32_t one, std::uint32_t other) const {
    return caseAround(program, one) == caseAround(program, other) &&
           program.actions[other].guard == 0;
  }

  bool isHeader(std::uint32_t action) const {
    const Action &fields = program.actions[action];
    const std::uint32_t buffer = program.operands[fields.operands];
    return buffer != kNoBuffer && rank.layout->buffers[buffer].kind == BufferKind::Header;
  }

  bool changesHeader(std::uint32_t action) const {
    const std::uint16_t opcode = program.actions[action].opcode;
    return opcode == code(Opcode::Decide) || opcode == code(Opcode::Pack) ||
           opcode == code(Opcode::LoadEvaluation) || opcode == code(Opcode::ReportEvaluation);
  }

  /// What a replica is told it has to pass on to its own ranks.
  bool isFromCoordinator(std::uint32_t action) const {
    if (!brings(action, Decision::Microbatches))
      return false;
    const Group &group = groupOf(action);
    return group.axes == bitOf(Axis::Data) &&
           memberIndex(table.plan().mesh, rank.rank, group) != group.root;
  }

  /// What the coordinator decides goes to all replicas, what a replica loads to its own ranks.
  std::uint8_t axesOf(std::uint32_t action) const {
    const Mesh &mesh = table.plan().mesh;
    const bool isLoad = program.actions[action].opcode == code(Opcode::LoadEvaluation);
    const bool alongData = mesh.data > 1 && !isLoad;
    const bool alongPipeline = mesh.pipeline > 1 || !alongData;
    return (alongPipeline ? bitOf(Axis::Pipeline) : 0) | (alongData ? bitOf(Axis::Data) : 0);
  }
  const Group &groupOf(std::uint32_t action) const {
    return table.plan().groups[program.lanes[program.actions[action].lane].group];
  }

  bool brings(std::uint32_t action, Decision decision) const {
    const std::uint16_t opcode = program.actions[action].opcode;
    return isOfScalars(decision) ? opcode == code(Opcode::Clip) || opcode == code(Opcode::Settle)
                                 : opcode == code(Opcode::Broadcast) && isHeader(action);
  }

  void fault(int number, const DecisionUse &use, std::uint32_t from, std::string what) {
    constexpr std::string_view kWho[] = {"the guard of", "the case at", "the end of the loop at",
                                         "the loop at"};
    const bool ends = use.kind == DecisionUse::Kind::Until;
    const ActionPlace place{rank.rank, ends ? use.action - 1 : use.action};
    Finding &finding =
        verdict.error(Rule::D1, number, place,
                      fmt::format("{} {} of rank {} {}", kWho[static_cast<std::size_t>(use.kind)],
                                  verdict.words(place), rank.rank, what));
    if (from != kNone)
      verdict.from(finding, {rank.rank, from});
    verdict.to(finding, place);
  }

  const ActionTable &table;
  const RankView &rank;
  const Program &program;
  Verdict &verdict;
};

} // namespace

void verifyDecisionsArrive(const ActionTable &table, Verdict &verdict) {
  for (const RankView &rank : table.ranks())
    Arrivals(table, rank, verdict).judge();
}

} // namespace vime::verify
