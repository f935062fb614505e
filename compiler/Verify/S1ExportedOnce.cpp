// A part of S1: behind the last step the leading replica exports each trained stage once, if the
// job asks for it, and then one rank commits once: behind a call that gathers counters, so that all
// that was written is known before any of it is visible.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {
namespace {

using namespace plan;

std::string_view asked(std::uint32_t exports) {
  return exports == 0 ? "though the job asks for none" : "not once";
}

/// What a rank exports in its last segment: each stage once, all before its counters are gathered
/// for the commit.
class Exports {
public:
  Exports(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), verdict(verdict), shards(rank.stages.size(), 0) {}

  /// Commits found. `known`: calls after which the coordinator commits; its own are found first.
  std::uint32_t judge(std::uint32_t &known) {
    for (const Segment &segment : rank.segments)
      for (std::uint32_t entry = segment.first; entry < segment.end; ++entry)
        add(entry, !segment.isLoop() && &segment == &rank.segments.back());
    const bool leads = !table.plan().mesh.isEngine(rank.rank) &&
                       plan::replicaOf(table.plan().mesh, rank.rank) == 0;
    const bool exports = leads && !table.plan().run.exportTo.empty();
    for (std::uint32_t stage = 0; stage < shards.size(); ++stage) {
      const StageView &view = table.stages()[rank.stages[stage]];
      const bool isWritten = view.copy == 0 && isTrained(rank.program->stages[stage]);
      if (const std::uint32_t wanted = exports && isWritten ? 1 : 0; shards[stage] != wanted)
        verdict.error(Rule::S1, 8,
                      fmt::format("stage {} is exported {} behind the last step, {}", view.stage,
                                  times(shards[stage]),
                                  exports && wanted == 0 ? "though the first copy of the model is"
                                                         : asked(wanted)));
    }
    if (commits != 0)
      known = callsAtCommit;
    if (total(shards) != 0 && callsAtShard >= known)
      misplaced(lastShard, "after what was exported is counted");
    return commits;
  }

private:
  void add(std::uint32_t entry, bool isLast) {
    const Action &action = table.action(rank, entry);
    if (action.opcode == code(Opcode::ExportShard)) {
      if (!isLast)
        return misplaced(entry, "before the last step");
      ++shards[action.stage];
      lastShard = entry;
      callsAtShard = calls;
    }
    if (action.opcode == code(Opcode::ExportCommit)) {
      ++commits;
      callsAtCommit = calls;
    }
    calls += isLast && action.opcode == code(Opcode::Gather) && isOfRank(action);
  }

  /// Gathers the counters of ranks, not those of replicas.
  bool isOfRank(const Action &action) const {
    const std::uint32_t source = rank.program->operands[action.operands];
    return rank.layout->buffers[source].kind == BufferKind::Stats;
  }

  static std::uint32_t total(const std::vector<std::uint32_t> &counts) {
    return std::accumulate(counts.begin(), counts.end(), 0u);
  }

  void misplaced(std::uint32_t entry, std::string_view when) {
    const ActionPlace place = placeOf(table, rank, entry);
    verdict.from(
        verdict.error(Rule::S1, 8, place, fmt::format("{} runs {}", verdict.words(place), when)),
        place);
  }

  const ActionTable &table;
  const RankView &rank;
  Verdict &verdict;
  std::vector<std::uint32_t> shards; // of each local stage
  std::uint32_t commits = 0;
  std::uint32_t calls = 0;                           // that gather counters, so far
  std::uint32_t callsAtShard = 0, callsAtCommit = 0; // in front of the latest one
  std::uint32_t lastShard = kNone;
};

} // namespace

void verifyExportedOnce(const ActionTable &table, Verdict &verdict) {
  std::uint32_t commits = 0, known = kNone;
  for (const RankView &rank : table.ranks())
    commits += Exports(table, rank, verdict).judge(known);
  const std::uint32_t wanted = table.plan().run.exportTo.empty() ? 0 : 1;
  if (commits != wanted)
    verdict.error(Rule::S1, 9,
                  fmt::format("an export is committed {}, {}", times(commits), asked(wanted)));
}

} // namespace vime::verify
