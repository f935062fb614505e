// M3: a read starts after the write that it sees has finished; a slot is written again only when all its readers have
// finished, a send included; and it still holds its microbatch when the last reader comes.
//
// Two uses of a slot by different lanes, one of them writing, must be ordered by lanes and waits (Knowledge.h), also over
// the edge of a loop. Dispatch order is the only order they can have, so the later one must know the earlier one.
// What was never written at all is S2's to tell.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/Knowledge.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Describe.h"

namespace vime::verify {
namespace {

using namespace plan;

struct Content {
  std::uint32_t writer = kNone;     // entry; kNone: never written
  std::uint32_t position = 0;       // of the writer on its lane
  std::uint32_t microbatch = kNone; // kNone: not of one
  std::uint32_t lane = 0;
};

class SlotUses {
public:
  SlotUses(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), verdict(verdict), contents(rank.slotCount), lanes(rank.slotCount, 0),
        width((static_cast<std::uint32_t>(rank.program->lanes.size()) + 7) / 8 * 8),
        uses(std::size_t{rank.slotCount} * width, 0) {}

  void run() {
    forEachKnowing(table, rank, [this](const Knowing &now) {
      forEachAccess(table, rank, now.entry, [&](const SlotAccess &access) {
        for (std::uint32_t slot = access.first; slot < access.end; ++slot)
          use(now, access, slot);
      });
    });
  }

private:
  void use(const Knowing &now, const SlotAccess &access, std::uint32_t slot) {
    if (access.reads)
      read(now, access, slot);
    if (access.writes)
      write(now, access, slot);
    uses[std::size_t{slot} * width + now.action->lane] = now.position;
    lanes[slot] |= std::uint64_t{1} << now.action->lane;
  }

  void read(const Knowing &now, const SlotAccess &access, std::uint32_t slot) {
    const Content &content = contents[slot];
    if (content.writer == kNone)
      return;
    if (content.lane != now.action->lane && !now.knows(content.lane, content.position))
      race(1, now, access, content.writer, "reads", "written");
    if (access.perMicrobatch && content.microbatch != kNone && content.microbatch != table.microbatch(rank, now.entry))
      misplaced(now, access, slot);
  }

  void write(const Knowing &now, const SlotAccess &access, std::uint32_t slot) {
    // Most slots are used by one lane, whose order is known.
    if ((lanes[slot] & ~(std::uint64_t{1} << now.action->lane)) != 0)
      judgeUses(now, access, slot);
    std::fill_n(uses.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot} * width), width, 0);
    lanes[slot] = 0;
    contents[slot] = {now.entry, now.position,
                      access.perMicrobatch ? table.microbatch(rank, now.entry) : kNone, now.action->lane};
  }

  /// Everyone who used the slot since it was written last, the writer included.
  void judgeUses(const Knowing &now, const SlotAccess &access, std::uint32_t slot) {
    for (std::uint32_t lane = 0; lane < rank.program->lanes.size(); ++lane) {
      const std::uint32_t position = uses[std::size_t{slot} * width + lane];
      if (lane == now.action->lane || now.knows(lane, position))
        continue;
      const std::uint32_t other = entryAt(table, rank, lane, position);
      const bool wrote = contents[slot].writer == other && contents[slot].position == position;
      if (wrote && access.reads)
        continue; // told by the read
      if (wrote)
        race(4, now, access, other, "overwrites", "written");
      else if (rank.program->lanes[lane].kind == LaneKind::Send)
        race(3, now, access, other, "overwrites", "sent");
      else
        race(2, now, access, other, "overwrites", "read");
    }
  }

  void race(int number, const Knowing &now, const SlotAccess &access, std::uint32_t other, std::string_view what,
            std::string_view before) {
    // Each slot and the next iteration would only repeat it.
    const Told told{number, now.entry, access.buffer};
    if (std::find(tellings.begin(), tellings.end(), told) != tellings.end() || tellings.size() == kTellings)
      return;
    tellings.push_back(told);
    const ActionPlace place = placeOf(table, rank, now.entry);
    Finding &finding =
        verdict.error(Rule::M3, number, place,
                      fmt::format("{} `{}` without waiting until it is {}", what,
                                  describeBuffer(table.plan(), rank.rank, access.buffer), before));
    verdict.from(finding, placeOf(table, rank, other));
    verdict.to(finding, place);
  }

  /// The slot holds another microbatch. Overwritten if the wanted one has been there; else it comes later, which is S2's.
  void misplaced(const Knowing &now, const SlotAccess &access, std::uint32_t slot) {
    if (searches == kSearches)
      return;
    ++searches;
    const std::uint32_t wanted = table.microbatch(rank, now.entry), holds = contents[slot].microbatch;
    if (!wasWritten(table, rank, now.entry, access.buffer, wanted))
      return;
    const ActionPlace place = placeOf(table, rank, now.entry);
    Finding &finding = verdict.error(
        Rule::M3, 5, place,
        fmt::format("microbatch {} of `{}` is overwritten by microbatch {} before its last use: {} slots are too few", wanted,
                    describeBuffer(table.plan(), rank.rank, access.buffer), holds,
                    rank.layout->buffers[access.buffer].count));
    verdict.from(finding, placeOf(table, rank, contents[slot].writer));
    verdict.to(finding, place);
  }

  /// A finding: its number, the later action, the buffer.
  struct Told {
    int number;
    std::uint32_t entry, buffer;
    bool operator==(const Told &) const = default;
  };
  static constexpr std::size_t kTellings = 64; // of a rank
  static constexpr int kSearches = 16; // of misplaced microbatches, each over a whole segment

  const ActionTable &table;
  const RankView &rank;
  Verdict &verdict;
  std::vector<Content> contents;    // of each slot
  std::vector<std::uint64_t> lanes; // that used the slot since it was written last
  std::uint32_t width;
  std::vector<std::uint32_t> uses; // for each slot and lane the latest of those uses
  std::vector<Told> tellings;
  int searches = 0;
};

} // namespace

bool wasWritten(const ActionTable &table, const RankView &rank, std::uint32_t before, std::uint32_t buffer,
                std::uint32_t microbatch) {
  bool found = false;
  const Segment &segment = rank.segments[table.segment(rank, before)];
  for (std::uint32_t entry = segment.first; entry < before && !found; ++entry)
    if (table.microbatch(rank, entry) == microbatch)
      forEachAccess(table, rank, entry, [&](const SlotAccess &access) {
        found = found || (access.writes && access.perMicrobatch && access.buffer == buffer);
      });
  return found;
}

void verifyBuffersOrdered(const ActionTable &table, Verdict &verdict) {
  for (const RankView &rank : table.ranks())
    SlotUses(table, rank, verdict).run();
}

} // namespace vime::verify
