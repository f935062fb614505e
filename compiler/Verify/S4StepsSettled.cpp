// S4, where the optimizer runs early (execution-model.md, Early commits): every rank learns the
// verdict on a step once, from the next one before its first gradient, or at the end of its own
// step where something else follows; and where that verdict is bad, and only there, each of its
// stages is done again.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/DecisionUses.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Decisions.h"

namespace vime::verify {
namespace {

using namespace plan;

bool isOfEarlyCommit(Opcode opcode) {
  return opcode == Opcode::OptimizeEarly || opcode == Opcode::Settle || opcode == Opcode::Redo;
}

/// One iteration of one rank.
class Settling {
public:
  Settling(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), verdict(verdict), stages(rank.stages.size()),
        settles(table.choice().of(Decision::Settle) != 0),
        isBad(table.choice().of(Decision::Verdict) != kStands) {}

  void run(const Segment &segment) {
    for (std::uint32_t entry = segment.first; entry < segment.end; ++entry)
      judge(entry, table.action(rank, entry));
    if (last != kNone)
      judgeEnd();
  }

private:
  struct StageState {
    std::uint32_t early = kNone;
    std::uint32_t before = 0, own = 0; // times that it is done again
    std::uint32_t lastRedo = kNone;
  };

  void judge(std::uint32_t entry, const Action &action) {
    switch (static_cast<Opcode>(action.opcode)) {
    case Opcode::Settle:
      if (settled != kNone)
        fault(19, entry, settled, "settles the step before a second time");
      settled = entry;
      return;
    case Opcode::Backward:
    case Opcode::BackwardInput:
    case Opcode::BackwardWeight:
      if (settled == kNone && !isTooEarly) {
        isTooEarly = true; // what follows would only repeat it
        fault(18, entry, kNone, "runs before the verdict on the step before is known");
      }
      last = entry;
      return;
    case Opcode::Optimize:
      return fault(19, entry, kNone, "waits for the norm, though this plan commits early");
    case Opcode::OptimizeEarly:
      stages[action.stage].early = last = entry;
      return;
    case Opcode::Clip:
      return clip(entry);
    case Opcode::Redo:
      return redo(entry, action);
    default:
      return;
    }
  }

  void clip(std::uint32_t entry) {
    if (!settles)
      fault(19, entry, kNone, "settles a step that the next one settles");
    for (const StageState &stage : stages)
      if (stage.early == kNone)
        return fault(19, entry, kNone, "settles the step before all stages have run the optimizer");
    clipped = entry;
  }

  void redo(std::uint32_t entry, const Action &action) {
    StageState &stage = stages[action.stage];
    const bool isOwn = stage.early != kNone;
    if (isOwn ? clipped == kNone : settled == kNone)
      return fault(21, entry, stage.early, "does a step again before the verdict on it is known");
    if (!runsOnBadVerdictOnly(entry, action))
      return fault(21, entry, kNone, "does a step again that may stand");
    std::uint32_t &times = isOwn ? stage.own : stage.before;
    if (++times == 2)
      fault(21, entry, stage.lastRedo, "does a step again a second time");
    stage.lastRedo = entry;
  }

  bool runsOnBadVerdictOnly(std::uint32_t entry, const Action &action) const {
    const Case *one = caseAround(*rank.program, table[entry].action);
    if (asksForBadVerdict(action.guard))
      return true;
    return action.guard == 0 && one && asksForBadVerdict(one->condition); // else not on all of them
  }
  bool asksForBadVerdict(std::uint8_t entry) const {
    if (entry == 0)
      return false;
    const Condition &condition = table.plan().conditions[entry - 1];
    return condition.decision == Decision::Verdict && !holds(condition, kStands) &&
           holds(condition, kClipped) && holds(condition, kRefused);
  }

  void judgeEnd() {
    if (settled == kNone)
      missing(19, "has no `settle` for the step before");
    if (settles && clipped == kNone)
      missing(19, "has no `clip` for a step that is settled at its own end");
    for (std::uint32_t stage = 0; stage < stages.size(); ++stage) {
      if (isBad && stages[stage].before == 0)
        missing(21, fmt::format("does the step before not again for stage {}, where the verdict is "
                                "bad",
                                stageName(stage)));
      if (settles && stages[stage].own == 0)
        missing(21,
                fmt::format("does its own step not again for stage {}, where the verdict is bad",
                            stageName(stage)));
    }
  }

  std::uint32_t stageName(std::uint32_t local) const {
    return table.stages()[rank.stages[local]].stage;
  }

  void missing(int number, std::string_view what) {
    const ActionPlace place = placeOf(table, rank, last);
    verdict.from(verdict.error(Rule::S4, number, place,
                               fmt::format("a step of rank {} {}", rank.rank, what)),
                 place);
  }

  void fault(int number, std::uint32_t entry, std::uint32_t before, std::string_view what) {
    const ActionPlace place = placeOf(table, rank, entry);
    Finding &finding =
        verdict.error(Rule::S4, number, place, fmt::format("{} {}", verdict.words(place), what));
    if (before != kNone)
      verdict.from(finding, placeOf(table, rank, before));
    verdict.to(finding, place);
  }

  const ActionTable &table;
  const RankView &rank;
  Verdict &verdict;
  std::vector<StageState> stages;
  const bool settles, isBad;
  std::uint32_t settled = kNone, clipped = kNone;
  std::uint32_t last = kNone; // gradient or early optimizer
  bool isTooEarly = false;
};

/// Where no loop goes on, or no verdict is decided, nothing is settled later.
void refuseAll(const ActionTable &table, const RankView &rank, const Segment &segment,
               Verdict &verdict) {
  for (std::uint32_t entry = segment.first; entry < segment.end; ++entry) {
    if (!isOfEarlyCommit(static_cast<Opcode>(table.action(rank, entry).opcode)))
      continue;
    const ActionPlace place = placeOf(table, rank, entry);
    verdict.to(verdict.error(Rule::S4, 19, place,
                             fmt::format("{} stands where no step settles another one",
                                         verdict.words(place))),
               place);
    return; // others would only repeat it
  }
}

} // namespace

void verifyStepsSettled(const ActionTable &table, Verdict &verdict) {
  const bool runsEarly = isPostValidated(table.plan());
  for (const RankView &rank : table.ranks())
    for (const Segment &segment : rank.segments)
      if (runsEarly && segment.isLoop())
        Settling(table, rank, verdict).run(segment);
      else
        refuseAll(table, rank, segment, verdict);
}

} // namespace vime::verify
