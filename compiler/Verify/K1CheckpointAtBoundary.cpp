// K1: a checkpoint stands at the boundary of an iteration of the loop over steps: what runs only
// where `save` is decided takes the weights and the moments of every stage behind the step's update
// of them, nothing changes them between there and the end of the iteration, and a snapshot is
// written. So they belong together, and to the step that the header names. Channels are empty
// there, because messages never cross the edge of an iteration (C1); that lanes are done with what
// is taken is for M3. What is written gets its name from the counters of the ranks: they are
// gathered, and the checkpoint is named, before the next one is written and behind the steps.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/DecisionUses.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"

namespace vime::verify {
namespace {

using namespace plan;

/// What a checkpoint has of a stage.
enum Part : std::uint8_t { kWeights, kMoments, kShard, kParts };
constexpr std::string_view kNames[] = {"takes the weights", "takes the moments",
                                       "writes the snapshot"};

using Taken = std::vector<std::array<bool, kParts>>; // by stage of the plan

class Iteration {
public:
  Iteration(const ActionTable &table, const RankView &rank, Taken &taken, Verdict &verdict)
      : table(table), rank(rank), taken(taken), verdict(verdict), accesses(table, rank),
        states(rank.layout->buffers.size()) {}

  void run(const Segment &body) {
    for (std::uint32_t entry = body.first; entry < body.end; ++entry) {
      const bool saves = isSave(entry);
      accesses.forEach(entry, [&](const SlotAccess &access) { use(entry, access, saves); });
    }
  }

private:
  struct State {
    bool updated = false;       // in this iteration
    std::uint32_t save = kNone; // entry that took it
  };

  /// Runs only where `save` is 1.
  bool isSave(std::uint32_t entry) const {
    const Action &action = table.action(rank, entry);
    const Case *one = caseAround(*rank.program, table[entry].action);
    return asksForSave(action.guard) || (one && asksForSave(one->condition));
  }
  bool asksForSave(std::uint8_t entry) const {
    if (entry == 0)
      return false;
    const Condition &condition = table.plan().conditions[entry - 1];
    return condition.decision == Decision::Save && holds(condition, 1) && !holds(condition, 0);
  }

  void use(std::uint32_t entry, const SlotAccess &access, bool saves) {
    const Buffer &buffer = rank.layout->buffers[access.buffer];
    if (buffer.kind == BufferKind::Snapshot && saves) // taken, and then written
      taken[rank.stages[buffer.stage]][kShard] = !access.writes;
    if (buffer.kind != BufferKind::Weights && buffer.kind != BufferKind::Moments)
      return;
    State &state = states[access.buffer];
    if (access.writes) {
      if (state.save != kNone)
        fault(2, state.save, entry, access.buffer, "changes behind the checkpoint of the step");
      state.updated = true;
    } else if (saves) {
      if (!state.updated)
        fault(1, kNone, entry, access.buffer, "takes in front of the update of the step");
      state.save = entry;
      taken[rank.stages[buffer.stage]][buffer.kind == BufferKind::Moments] = true;
    }
  }

  void fault(int number, std::uint32_t before, std::uint32_t entry, std::uint32_t buffer,
             std::string_view what) {
    const ActionPlace place = placeOf(table, rank, entry);
    Finding &finding =
        verdict.error(Rule::K1, number, place,
                      fmt::format("{} of rank {} {} `{}`", verdict.words(place), rank.rank, what,
                                  describeBuffer(table.plan(), rank.rank, buffer)));
    if (before != kNone)
      verdict.from(finding, placeOf(table, rank, before));
    verdict.to(finding, place);
  }

  const ActionTable &table;
  const RankView &rank;
  Taken &taken;
  Verdict &verdict;
  AccessReader accesses;
  std::vector<State> states; // by buffer
};

/// Whether a rank names, in one segment, what counters say that were gathered there before.
class Naming {
public:
  Naming(const ActionTable &table, const RankView &rank)
      : table(table), accesses(table, rank), gathered(rank.layout->buffers.size(), false) {}

  void see(std::uint32_t entry, const Action &action) {
    if (action.guard != 0)
      return; // not in every step
    const bool gathers = action.opcode == code(Opcode::Gather);
    if (gathers || action.opcode == code(Opcode::CheckpointCommit))
      accesses.forEach(entry, [&](const SlotAccess &access) {
        if (access.writes)
          gathered[access.buffer] = gathers;
        else if (!gathers)
          isNamed |= gathered[access.buffer];
      });
  }
  bool names() const { return isNamed; }

private:
  const ActionTable &table;
  AccessReader accesses;
  std::vector<bool> gathered; // by buffer
  bool isNamed = false;
};

bool writesShards(const ActionTable &table) {
  return std::ranges::any_of(table.ranks(), [](const RankView &rank) {
    return std::ranges::any_of(rank.program->actions, [](const Action &action) {
      return action.opcode == code(Opcode::CheckpointShard);
    });
  });
}

/// The leading rank: it has the counters of all.
void judgeNames(const ActionTable &table, const RankView &rank, Verdict &verdict) {
  bool isNamedBehind = false;
  for (const Segment &segment : rank.segments) {
    Naming naming(table, rank);
    std::uint32_t shard = segment.isLoop() ? segment.end : kNone;
    for (std::uint32_t entry = segment.first; entry < segment.end && shard != entry; ++entry) {
      const Action &action = table.action(rank, entry);
      naming.see(entry, action);
      if (segment.isLoop() && action.opcode == code(Opcode::CheckpointShard))
        shard = entry;
    }
    isNamedBehind = segment.isLoop() ? false : naming.names();
    if (!segment.isLoop() || naming.names() || shard == segment.end)
      continue;
    const ActionPlace place = placeOf(table, rank, shard);
    verdict.to(verdict.error(Rule::K1, 4, place,
                             fmt::format("{} of rank {} writes a checkpoint before the one before "
                                         "it is named",
                                         verdict.words(place), rank.rank)),
               place);
  }
  if (!isNamedBehind)
    verdict.error(
        Rule::K1, 4,
        fmt::format("rank {} does not name the last checkpoint behind the steps", rank.rank));
}

} // namespace

namespace {
bool isTrainedStage(const StageView &stage) {
  return plan::isTrained({static_cast<std::uint16_t>(stage.model), stage.stage});
}
} // namespace

void verifyCheckpointAtBoundary(const ActionTable &table, Verdict &verdict) {
  if (table.choice().of(Decision::Save) == 0)
    return;
  Taken taken(table.stages().size(), {false, false, true});
  for (const RankView &rank : table.ranks())
    for (const Segment &segment : rank.segments)
      if (segment.isLoop())
        Iteration(table, rank, taken, verdict).run(segment);
  for (std::size_t stage = 0; stage < taken.size(); ++stage)
    for (std::size_t part = 0; part < kParts && isTrainedStage(table.stages()[stage]); ++part)
      if (!taken[table.stages()[stage].original][part])
        verdict.error(Rule::K1, 3,
                      fmt::format("`save` may be decided, but no checkpoint {} of stage {}",
                                  kNames[part], table.stages()[stage].stage));
  if (writesShards(table))
    judgeNames(table, table.ranks().front(), verdict);
}

} // namespace vime::verify
