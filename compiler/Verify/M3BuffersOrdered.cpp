// M3: a read starts after the write that it sees has finished; a slot is written again only when
// all its readers have finished, a send included; and it still holds its microbatch when the last
// reader comes.
//
// Two uses of a slot by different lanes, one of them writing, must be ordered by lanes and waits
// (Knowledge.h), also over the edge of a loop. Dispatch order is the only order they can have, so
// the later one must know the earlier one. What was never written at all is S2's to tell. Within an
// action nothing has an order, so it may use a slot once only, or several times to read.
//
// Of a loop's second iteration only those uses are judged that come before its own first write of
// the slot: all others meet what they met in the first iteration.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/Knowledge.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Describe.h"

namespace vime::verify {
namespace {

using namespace plan;

struct SlotState {
  std::uint64_t lanes = 0; // that used it since it was written last, the writer's included
  std::uint64_t openLanes =
      0; // that read it in this segment before anything in the segment wrote it
  std::uint32_t writer = kNone;     // entry; kNone: never written
  std::uint32_t position = 0;       // of the writer on its lane
  std::uint32_t microbatch = kNone; // that it holds; kNone: of none
  std::uint8_t lane = 0;            // of the writer
  bool settled = false;             // written in this segment
};

/// A use that meets what the iteration before left.
struct OpenUse {
  std::uint32_t entry, slot, buffer;
  bool reads, writes;
};

class SlotUses {
public:
  SlotUses(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), verdict(verdict), accesses(table, rank), states(rank.slotCount),
        laneCount(rank.program->lanes.size()), uses(rank.slotCount * laneCount, 0) {}

  template <std::size_t kWidth> void run() {
    LaneClocks<kWidth> clocks(rank);
    for (const Segment &segment : rank.segments) {
      const std::vector<std::uint32_t> before = clocks.counts();
      firstIteration(segment, clocks);
      if (segment.trips < 2)
        continue;
      const std::vector<std::uint32_t> after = clocks.counts();
      secondIteration(segment, clocks);
      shift(before, after);
    }
  }

private:
  template <std::size_t kWidth>
  void firstIteration(const Segment &segment, LaneClocks<kWidth> &clocks) {
    openUses.clear();
    for (SlotState &state : states) {
      state.openLanes = 0;
      state.settled = false;
    }
    for (std::uint32_t entry = segment.first; entry < segment.end; ++entry) {
      const Action &action = table.action(rank, entry);
      const Knowing now = clocks.start(entry, action);
      accesses.forEach(entry, [&](const SlotAccess &access) {
        for (std::uint32_t slot = access.first; slot < access.end; ++slot)
          use(now, access, slot);
      });
      clocks.finish(action);
    }
  }

  template <std::size_t kWidth>
  void secondIteration(const Segment &segment, LaneClocks<kWidth> &clocks) {
    auto next = openUses.begin();
    for (std::uint32_t entry = segment.first; entry < segment.end; ++entry) {
      const Action &action = table.action(rank, entry);
      const Knowing now = clocks.start(entry, action);
      for (; next != openUses.end() && next->entry == entry; ++next)
        judge(now, *next);
      clocks.finish(action);
    }
  }

  /// The second iteration used what the first used, as much later as the first is long.
  void shift(const std::vector<std::uint32_t> &before, const std::vector<std::uint32_t> &after) {
    const auto later = [&](std::uint32_t lane, std::uint32_t position) {
      return position > before[lane] ? position + (after[lane] - before[lane]) : position;
    };
    for (std::size_t slot = 0; slot < states.size(); ++slot) {
      states[slot].position = later(states[slot].lane, states[slot].position);
      for (std::uint64_t lanes = states[slot].lanes; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
        uses[slot * laneCount + lane] = later(lane, uses[slot * laneCount + lane]);
      }
    }
  }

  void use(const Knowing &now, const SlotAccess &access, std::uint32_t slot) {
    SlotState &state = states[slot];
    const std::uint64_t lane = std::uint64_t{1} << now.action->lane;
    if (!state.settled && (access.writes || (state.openLanes & lane) == 0)) {
      openUses.push_back({now.entry, slot, access.buffer, access.reads, access.writes});
      state.openLanes |= lane;
    }
    judge(now, {now.entry, slot, access.buffer, access.reads, access.writes});
    if ((state.lanes & lane) != 0 && uses[slot * laneCount + now.action->lane] == now.position &&
        (access.writes || (state.writer == now.entry && state.position == now.position)))
      twice(now, access);
    const auto ownerOf = [&](std::uint32_t microbatch) {
      return ownerIn(table, rank, access.buffer, microbatch);
    };
    if (access.reads && access.perMicrobatch && state.microbatch != kNone &&
        ownerOf(state.microbatch) != ownerOf(table.microbatch(rank, now.entry)))
      misplaced(now, access, state);
    if (access.writes) {
      state.lanes = 0;
      state.settled = true;
      state.writer = now.entry;
      state.position = now.position;
      state.lane = now.action->lane;
      state.microbatch = access.perMicrobatch ? table.microbatch(rank, now.entry) : kNone;
    }
    state.lanes |= lane;
    uses[slot * laneCount + now.action->lane] = now.position;
  }

  void judge(const Knowing &now, const OpenUse &use) {
    const SlotState &state = states[use.slot];
    if (use.reads && state.writer != kNone && state.lane != now.action->lane &&
        !now.knows(state.lane, state.position))
      race(1, now, use, state.writer, "reads", "written");
    // Most slots are used by one lane, whose order is known.
    if (use.writes && (state.lanes & ~(std::uint64_t{1} << now.action->lane)) != 0)
      judgeOverwriting(now, use, state);
  }

  /// Everyone who used the slot since it was written last, the writer included.
  void judgeOverwriting(const Knowing &now, const OpenUse &use, const SlotState &state) {
    for (std::uint64_t lanes = state.lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
      const std::uint32_t position = uses[use.slot * laneCount + lane];
      if (lane == now.action->lane || now.knows(lane, position))
        continue;
      const bool wrote = state.writer != kNone && state.lane == lane && state.position == position;
      if (wrote && use.reads)
        continue; // told by the read
      const bool sends = rank.program->lanes[lane].kind == LaneKind::Send;
      race(wrote   ? 4
           : sends ? 3
                   : 2,
           now, use, entryAt(table, rank, lane, position), "overwrites",
           wrote   ? "written"
           : sends ? "sent"
                   : "read");
    }
  }

  void race(int number, const Knowing &now, const OpenUse &use, std::uint32_t other,
            std::string_view what, std::string_view before) {
    if (!isNews({number, now.entry, use.buffer}))
      return;
    const ActionPlace place = placeOf(table, rank, now.entry);
    Finding &finding = verdict.error(
        Rule::M3, number, place,
        fmt::format("{} {} `{}` without waiting until it is {}", verdict.words(place), what,
                    describeBuffer(table.plan(), rank.rank, use.buffer), before));
    verdict.from(finding, placeOf(table, rank, other));
    verdict.to(finding, place);
  }

  /// A finding: its number, the later action, the buffer.
  struct Told {
    int number;
    std::uint32_t entry, buffer;
    bool operator==(const Told &) const = default;
  };
  /// Other slots and the next iteration would only repeat it.
  bool isNews(const Told &told) {
    if (std::find(tellings.begin(), tellings.end(), told) != tellings.end() ||
        tellings.size() == kTellings)
      return false;
    tellings.push_back(told);
    return true;
  }

  void twice(const Knowing &now, const SlotAccess &access) {
    const ActionPlace place = placeOf(table, rank, now.entry);
    verdict.from(verdict.error(Rule::M3, 6, place,
                               fmt::format("{} writes `{}`, which is also another operand of it",
                                           verdict.words(place),
                                           describeBuffer(table.plan(), rank.rank, access.buffer))),
                 place);
  }

  /// The slot holds another microbatch. Overwritten if the wanted one has been there; else it comes
  /// later, which is S2's.
  void misplaced(const Knowing &now, const SlotAccess &access, const SlotState &state) {
    if (searches == kSearches)
      return;
    ++searches;
    const std::uint32_t wanted = table.microbatch(rank, now.entry);
    if (!wasWritten(table, rank, now.entry, access.buffer, wanted) ||
        !isNews({5, 0, access.buffer}))
      return; // one too short a ring is found again and again
    const ActionPlace place = placeOf(table, rank, now.entry);
    const std::uint32_t slots = rank.layout->buffers[access.buffer].count;
    Finding &finding =
        verdict.error(Rule::M3, 5, place,
                      fmt::format("microbatch {} of `{}` is overwritten by microbatch {} before "
                                  "its last use: {} {} too few",
                                  wanted, describeBuffer(table.plan(), rank.rank, access.buffer),
                                  state.microbatch, slots, slots == 1 ? "slot is" : "slots are"));
    verdict.from(finding, placeOf(table, rank, state.writer));
    verdict.to(finding, place);
  }

  static constexpr std::size_t kTellings = 64; // of a rank
  static constexpr int kSearches = 16; // of misplaced microbatches, each over a whole segment

  const ActionTable &table;
  const RankView &rank;
  Verdict &verdict;
  AccessReader accesses;
  std::vector<SlotState> states;
  std::size_t laneCount;
  std::vector<std::uint32_t>
      uses; // for each slot and lane the latest position since it was written last
  std::vector<OpenUse> openUses; // of this segment, in dispatch order
  std::vector<Told> tellings;
  int searches = 0;
};

} // namespace

bool wasWritten(const ActionTable &table, const RankView &rank, std::uint32_t before,
                std::uint32_t buffer, std::uint32_t microbatch) {
  bool found = false;
  const AccessReader accesses(table, rank);
  const Segment &segment = rank.segments[table.segment(rank, before)];
  const std::uint32_t owner = ownerIn(table, rank, buffer, microbatch);
  for (std::uint32_t entry = segment.first; entry < before && !found; ++entry)
    if (ownerIn(table, rank, buffer, table.microbatch(rank, entry)) == owner)
      accesses.forEach(entry, [&](const SlotAccess &access) {
        found = found || (access.writes && access.perMicrobatch && access.buffer == buffer);
      });
  return found;
}

void verifyBuffersOrdered(const ActionTable &table, Verdict &verdict) {
  for (const RankView &rank : table.ranks())
    withClockWidth(rank, [&](auto width) { SlotUses(table, rank, verdict).template run<width>(); });
}

} // namespace vime::verify
