// D2: a decision's value is in its range, and every rank gets the same one: the header is written
// on one rank only, the root of the group that brings it to all others, and by nothing else
// anywhere; each condition is about values that the decision can have.
//
// With replicas the header goes over two groups, from the coordinator to the first rank of each and
// on from there; C3 sees to it that all members of both take part. `settle` takes an update back
// from each rank's own header, by a verdict that all ranks compute alike.
//
// That the value decided is in the range, the executor asks at every use; `bad` and `verdict`
// follow on every rank from the same gathered squares (S4).
#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"

namespace vime::verify {
namespace {

using namespace plan;

/// Where headers are made, and how they get to this rank.
class Headers {
public:
  Headers(const ActionTable &table, Verdict &verdict) : table(table), verdict(verdict) {}

  void add(const RankView &rank) {
    const AccessReader accesses(table, rank);
    for (std::uint32_t entry = rank.first; entry < rank.end; ++entry)
      accesses.forEach(entry, [&](const SlotAccess &access) {
        if (access.writes && rank.layout->buffers[access.buffer].kind == BufferKind::Header)
          written(rank, entry);
      });
  }

private:
  void written(const RankView &rank, std::uint32_t entry) {
    const Action &action = table.action(rank, entry);
    const Lane &lane = rank.program->lanes[action.lane];
    if (action.opcode == code(Opcode::Load) || action.opcode == code(Opcode::LoadRound) ||
        action.opcode == code(Opcode::LoadEvaluation))
      return; // the tokens of its replica
    if (action.opcode == code(Opcode::Settle))
      return; // its count of updates
    if (lane.kind == LaneKind::Host) {
      if (maker != kNone && maker != rank.rank)
        fault(1, rank, entry, fmt::format("writes the step header, as rank {} does", maker));
      maker = rank.rank;
      return;
    }
    const bool arrives = action.opcode == code(Opcode::Broadcast);
    if (arrives && !table.plan().groups[lane.group].members.empty())
      return toEngine(rank, entry, table.plan().groups[lane.group]);
    if (arrives && group == kNone)
      group = lane.group;
    if (!arrives)
      fault(1, rank, entry, "writes the step header, which only the coordinator decides");
    else if (lane.group != group && table.plan().mesh.data == 1)
      fault(2, rank, entry,
            fmt::format("brings the step header over group `{}`, others get it over `{}`",
                        table.plan().groups[lane.group].name, table.plan().groups[group].name));
    else if (table.plan().mesh.data == 1 && maker != kNone &&
             table.plan().groups[group].root != maker)
      fault(2, rank, entry,
            fmt::format("brings the step header from rank {}, which rank {} makes",
                        table.plan().groups[group].root, maker));
  }

  /// Who generates has it from who makes it.
  void toEngine(const RankView &rank, std::uint32_t entry, const Group &of) {
    if (maker != kNone && of.members[of.root] != maker)
      fault(2, rank, entry,
            fmt::format("brings the step header from rank {}, which rank {} makes",
                        of.members[of.root], maker));
  }

  void fault(int number, const RankView &rank, std::uint32_t entry, std::string_view what) {
    const ActionPlace place = placeOf(table, rank, entry);
    verdict.to(
        verdict.error(Rule::D2, number, place,
                      fmt::format("{} of rank {} {}", verdict.words(place), rank.rank, what)),
        place);
  }

  const ActionTable &table;
  Verdict &verdict;
  std::uint32_t maker = kNone, group = kNone;
};

/// A condition that always or never holds decides nothing: the plan is not what it seems.
void judgeConditions(const Plan &plan, Verdict &verdict) {
  for (std::size_t index = 0; index < plan.conditions.size(); ++index) {
    const Condition &condition = plan.conditions[index];
    std::size_t holding = 0;
    const auto values = valuesOf(plan, condition.decision);
    for (const std::uint32_t value : values)
      holding += holds(condition, value);
    if (holding != 0 && (holding != values.size() || values.size() == 1))
      continue;
    verdict.error(Rule::D2, 3,
                  fmt::format("condition `{}` {} holds",
                              describeCondition(plan, static_cast<std::uint32_t>(index + 1)),
                              holding == 0 ? "never" : "always"));
  }
}

} // namespace

void verifyDecisionsAgree(const ActionTable &table, Verdict &verdict) {
  judgeConditions(table.plan(), verdict);
  if (table.plan().decisions.empty())
    return;
  Headers headers(table, verdict);
  for (const RankView &rank : table.ranks())
    headers.add(rank);
}

} // namespace vime::verify
