// D5: what has counterparts is skipped on all of them or on none: every rank has the same cases,
// one behind the other, and calls and transfers stand in the same one; a guard stands only on an
// action without counterparts that not every step needs, and whose outputs nobody misses when it is
// skipped.
#include <map>

#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/DecisionUses.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"

namespace vime::verify {
namespace {

using namespace plan;

void judgeSameCases(const ActionTable &table, Verdict &verdict) {
  const RankView &first = table.ranks().front();
  const std::vector<Case> &wanted = first.program->cases;
  for (const RankView &rank : table.ranks()) {
    const std::vector<Case> &own = rank.program->cases;
    if (own.size() != wanted.size()) {
      verdict.error(Rule::D5, 1,
                    fmt::format("rank {} has {} cases, rank {} has {}", first.rank, wanted.size(),
                                rank.rank, own.size()));
      return;
    }
    for (std::size_t index = 0; index < own.size(); ++index)
      if (own[index].condition != wanted[index].condition) {
        Finding &finding = verdict.error(
            Rule::D5, 1,
            fmt::format("case {} is for `{}` on rank {} and for `{}` on rank {}", index,
                        describeCondition(table.plan(), wanted[index].condition), first.rank,
                        describeCondition(table.plan(), own[index].condition), rank.rank));
        verdict.from(finding, {first.rank, wanted[index].begin});
        verdict.to(finding, {rank.rank, own[index].begin});
        return;
      }
  }
}

void judgeLoopEnds(const ActionTable &table, Verdict &verdict) {
  const std::vector<Loop> &wanted = table.ranks().front().program->loops;
  std::map<std::uint32_t, std::uint8_t> until;
  for (const Loop &loop : wanted)
    until[loop.id] = loop.until;
  for (const RankView &rank : table.ranks())
    for (const Loop &loop : rank.program->loops)
      if (const auto found = until.find(loop.id);
          found != until.end() && found->second != loop.until)
        verdict.error(Rule::D5, 3,
                      fmt::format("loop {} ends on {} on rank 0 and on {} on rank {}", loop.id,
                                  found->second == 0
                                      ? "no condition"
                                      : "`" + describeCondition(table.plan(), found->second) + "`",
                                  loop.until == 0
                                      ? "no condition"
                                      : "`" + describeCondition(table.plan(), loop.until) + "`",
                                  rank.rank));
}

/// What is skipped leaves its outputs as they were: so it writes what it also reads, or what is
/// read under the same guard only.
class Guards {
public:
  Guards(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), program(*rank.program), verdict(verdict) {}

  void judge() {
    for (std::uint32_t action = 0; action < program.actions.size(); ++action) {
      if (program.actions[action].guard != 0)
        judge(action);
      if (program.actions[action].opcode == code(Opcode::Report) && isPostValidated(table.plan()))
        judgeReport(action);
    }
  }

private:
  void judge(std::uint32_t action) {
    const Action &fields = program.actions[action];
    const Signature &signature = *signatureOf(fields.opcode);
    for (std::size_t operand = 0; operand < signature.operands.size(); ++operand) {
      const Access access = signature.operands[operand].access;
      const std::uint32_t buffer = program.operands[fields.operands + operand];
      if (access == Access::Read || access == Access::ReadWrite || buffer == kNoBuffer)
        continue;
      if (const std::uint32_t reader = readerOutside(buffer, fields.guard); reader != kNone)
        return fault(action, signature.operands[operand].name, reader);
    }
    if (!mayBeLeftOut(signature.opcode) && !isOfStepBefore(fields))
      verdict.to(
          verdict.error(Rule::D5, 2, {rank.rank, action},
                        fmt::format("{} of rank {} is guarded by `{}`, but every step needs it",
                                    verdict.words({rank.rank, action}), rank.rank,
                                    describeCondition(table.plan(), fields.guard))),
          {rank.rank, action});
  }

  /// Where steps commit early: of the step before, if one is pending, or at the end of one that is
  /// settled there. Nothing else says each step once.
  void judgeReport(std::uint32_t action) {
    const Case *within = caseAround(program, action);
    const Action &fields = program.actions[action];
    const bool isSettled = within && within->condition != 0 && fields.guard == 0 &&
                           table.plan().conditions[within->condition - 1] ==
                               Condition{Decision::Settle, Comparison::Equal, 1};
    if (isSettled || (!within && fields.guard != 0 && isOfStepBefore(fields)))
      return;
    const ActionPlace place{rank.rank, action};
    verdict.to(verdict.error(Rule::D5, 4, place,
                             fmt::format("{} of rank {} is neither guarded by `pending = 1` nor in "
                                         "a case for `settle = 1`, so a step is reported twice or "
                                         "not at all",
                                         verdict.words(place), rank.rank)),
               place);
  }

  /// An update that changes nothing, and what belongs to a checkpoint; everything else is counted
  /// once a step or adds to what is.
  static bool mayBeLeftOut(Opcode opcode) {
    return opcode == Opcode::Optimize || opcode == Opcode::Redo || opcode == Opcode::Snapshot ||
           opcode == Opcode::CheckpointShard || opcode == Opcode::CheckpointCommit ||
           opcode == Opcode::Copy || opcode == Opcode::Join;
  }

  /// The report of a step that the next one settles: where there is none.
  bool isOfStepBefore(const Action &action) const {
    return action.opcode == code(Opcode::Report) &&
           table.plan().conditions[action.guard - 1] ==
               Condition{Decision::Pending, Comparison::Equal, 1};
  }

  /// An action that reads the buffer under another guard, or none.
  std::uint32_t readerOutside(std::uint32_t buffer, std::uint8_t guard) const {
    for (std::uint32_t action = 0; action < program.actions.size(); ++action) {
      const Action &fields = program.actions[action];
      const auto operands = signatureOf(fields.opcode)->operands;
      for (std::size_t operand = 0; operand < operands.size() && fields.guard != guard; ++operand)
        if (operands[operand].access != Access::Write &&
            program.operands[fields.operands + operand] == buffer)
          return action;
    }
    return kNone;
  }

  void fault(std::uint32_t action, std::string_view operand, std::uint32_t reader) {
    const ActionPlace place{rank.rank, action};
    Finding &finding = verdict.error(
        Rule::D5, 2, place,
        fmt::format(
            "{} of rank {} is guarded by `{}`; when it is skipped, its `{}` is never written",
            verdict.words(place), rank.rank,
            describeCondition(table.plan(), program.actions[action].guard), operand));
    verdict.from(finding, place);
    verdict.to(finding, {rank.rank, reader});
  }

  const ActionTable &table;
  const RankView &rank;
  const Program &program;
  Verdict &verdict;
};

} // namespace

void verifyConditionsAgree(const ActionTable &table, Verdict &verdict) {
  judgeSameCases(table, verdict);
  judgeLoopEnds(table, verdict);
  for (const RankView &rank : table.ranks())
    Guards(table, rank, verdict).judge();
}

} // namespace vime::verify
