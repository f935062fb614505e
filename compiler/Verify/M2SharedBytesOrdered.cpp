// M2: buffers that share bytes are used one after the other: a write to one comes, by lanes and
// waits, after all uses of the other (an action that uses both has no such order), and nothing
// reads what the other has overwritten.
//
// Layouts without shared bytes, and slots that share none, cost a sort.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/Knowledge.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Describe.h"

namespace vime::verify {
namespace {

using namespace plan;

struct Place {
  Tier tier = Tier::Device;
  std::uint64_t begin = 0, end = 0;
  std::uint32_t slot = 0, buffer = 0;
};

/// The slots that can be used, by place.
std::vector<Place> places(const RankView &rank) {
  std::vector<Place> all;
  for (std::uint32_t index = 0; index < rank.slots.size(); ++index) {
    const Buffer &buffer = rank.layout->buffers[index];
    for (std::uint32_t slot = 0; slot < rank.slots[index].count; ++slot) {
      const std::uint64_t begin = buffer.offset + slot * buffer.stride;
      all.push_back(
          {buffer.tier, begin, begin + buffer.bytes, rank.slots[index].first + slot, index});
    }
  }
  std::sort(all.begin(), all.end(), [](const Place &one, const Place &other) {
    return std::tuple(one.tier, one.begin, one.slot) <
           std::tuple(other.tier, other.begin, other.slot);
  });
  return all;
}

constexpr std::size_t kMaxPairs = std::size_t{1} << 22; // that share bytes on a rank

/// For each slot those that share bytes with it; empty if none does. Stops behind kMaxPairs.
std::vector<std::vector<std::uint32_t>> sharing(const RankView &rank, const std::vector<Place> &all,
                                                Verdict &verdict) {
  std::vector<std::vector<std::uint32_t>> shared;
  std::size_t pairs = 0;
  for (std::size_t one = 0; one < all.size(); ++one)
    for (std::size_t other = one + 1; other < all.size() && all[other].tier == all[one].tier &&
                                      all[other].begin < all[one].end && pairs <= kMaxPairs;
         ++other, ++pairs) {
      shared.resize(rank.slotCount);
      shared[all[one].slot].push_back(all[other].slot);
      shared[all[other].slot].push_back(all[one].slot);
    }
  if (pairs > kMaxPairs)
    verdict.error(
        Rule::M2, 3,
        fmt::format("more than {} pairs of slots of rank {} share bytes", kMaxPairs, rank.rank));
  return pairs > kMaxPairs ? std::vector<std::vector<std::uint32_t>>() : shared;
}

class SharedUses {
public:
  SharedUses(const ActionTable &table, const RankView &rank,
             const std::vector<std::vector<std::uint32_t>> &shared, Verdict &verdict)
      : table(table), rank(rank), verdict(verdict), shared(shared),
        lanes(rank.program->lanes.size()), uses(std::size_t{rank.slotCount} * lanes, 0),
        overwritten(rank.slotCount, kNone), overwriter(rank.slotCount, kNone) {}

  template <std::size_t kWidth> void run() {
    LaneClocks<kWidth> clocks(rank);
    const AccessReader accesses(table, rank);
    forEachDispatched(rank, [&](std::uint32_t entry) {
      const Action &action = table.action(rank, entry);
      const Knowing now = clocks.start(entry, action);
      accesses.forEach(entry, [&](const SlotAccess &access) {
        for (std::uint32_t slot = access.first; slot < access.end; ++slot)
          if (!shared[slot].empty())
            use(now, access, slot);
      });
      clocks.finish(action);
    });
  }

private:
  void use(const Knowing &now, const SlotAccess &access, std::uint32_t slot) {
    if (access.reads && overwritten[slot] != kNone)
      fault(2, now, access, overwritten[slot], overwriter[slot]);
    for (const std::uint32_t other : shared[slot]) {
      judgeUses(now, access, other);
      if (access.writes)
        overwriter[other] = slot;
      if (access.writes)
        overwritten[other] = now.entry;
    }
    if (access.writes && slot < access.whole)
      overwritten[slot] = kNone;
    uses[slot * lanes + now.action->lane] = now.position;
    written[slot * lanes + now.action->lane] =
        access.writes ? now.position : written[slot * lanes + now.action->lane];
  }

  /// A write against all uses of the other slot, a read against its writes.
  void judgeUses(const Knowing &now, const SlotAccess &access, std::uint32_t other) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t position = (access.writes ? uses : written)[other * lanes + lane];
      const bool ordered =
          lane == now.action->lane ? position != now.position : now.knows(lane, position);
      if (!ordered)
        fault(1, now, access, entryAt(table, rank, lane, position), other);
    }
  }

  void fault(int number, const Knowing &now, const SlotAccess &access, std::uint32_t otherEntry,
             std::uint32_t otherSlot) {
    // Other slots and the next iteration would only repeat it.
    const std::uint32_t other = bufferOf(otherSlot);
    const Told told{number, access.buffer, other};
    if (std::find(tellings.begin(), tellings.end(), told) != tellings.end())
      return;
    tellings.push_back(told);
    const std::string mine = describeBuffer(table.plan(), rank.rank, access.buffer),
                      its = describeBuffer(table.plan(), rank.rank, other);
    const ActionPlace place = placeOf(table, rank, now.entry);
    Finding &finding = verdict.error(
        Rule::M2, number, place,
        number == 1
            ? fmt::format("{} uses `{}` without waiting for the last use of `{}` in the same bytes",
                          verdict.words(place), mine, its)
            : fmt::format("{} reads `{}`, which `{}` in the same bytes has overwritten",
                          verdict.words(place), mine, its));
    verdict.from(finding, placeOf(table, rank, otherEntry));
    verdict.to(finding, place);
  }

  std::uint32_t bufferOf(std::uint32_t slot) const {
    std::uint32_t buffer = 0;
    while (slot >= rank.slots[buffer].first + rank.slots[buffer].count)
      ++buffer;
    return buffer;
  }

  /// A finding: its number and the two buffers.
  struct Told {
    int number;
    std::uint32_t buffer, other;
    bool operator==(const Told &) const = default;
  };

  const ActionTable &table;
  const RankView &rank;
  Verdict &verdict;
  const std::vector<std::vector<std::uint32_t>> &shared;
  std::size_t lanes;
  std::vector<std::uint32_t> uses; // latest of each slot and lane
  std::vector<std::uint32_t> written =
      std::vector<std::uint32_t>(uses.size(), 0); // latest that wrote
  std::vector<std::uint32_t>
      overwritten; // for each slot the entry that last wrote bytes of it through another one
  std::vector<std::uint32_t> overwriter; // that one
  std::vector<Told> tellings;
};

} // namespace

void verifySharedBytesOrdered(const ActionTable &table, Verdict &verdict) {
  if (verdict.count(Rule::M1) != 0)
    return; // buffers without a place cannot share bytes
  for (const RankView &rank : table.ranks())
    if (auto shared = sharing(rank, places(rank), verdict); !shared.empty())
      withClockWidth(rank, [&](auto width) {
        SharedUses(table, rank, shared, verdict).template run<width>();
      });
}

} // namespace vime::verify
