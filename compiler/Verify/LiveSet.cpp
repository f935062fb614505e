#include "compiler/Verify/LiveSet.h"

#include <algorithm>
#include <numeric>

#include "compiler/Verify/Accesses.h"

namespace vime::verify {
namespace {

using namespace plan;

/// A slot holds something needed, from entry `begin` to entry `end`.
struct Life {
  std::uint32_t buffer, begin, end;
};

/// Follows the slots of a rank through its segments.
class LifeReader {
public:
  LifeReader(const ActionTable &table, const RankView &rank)
      : table(table), rank(rank), accesses(table, rank), slots(rank.slotCount) {}

  std::vector<Life> read() {
    for (const Segment &segment : rank.segments) {
      std::fill(slots.begin(), slots.end(), Slot());
      for (std::uint32_t entry = segment.first; entry < segment.end; ++entry)
        accesses.forEach(entry, [&](const SlotAccess &access) { follow(segment, entry, access); });
      finish(segment);
    }
    return std::move(lives);
  }

private:
  struct Slot {
    std::uint32_t buffer = kNone; // none: not used yet in the segment
    std::uint32_t begin = 0, last = 0;
    bool isCarried = false; // it was read before it was written
  };

  void follow(const Segment &segment, std::uint32_t entry, const SlotAccess &access) {
    for (std::uint32_t index = access.first; index < access.end; ++index) {
      Slot &slot = slots[index];
      const bool fills = access.writes && !access.reads;
      if (slot.buffer != kNone && fills)
        lives.push_back({slot.buffer, slot.begin, slot.last});
      if (slot.buffer == kNone)
        slot = {access.buffer, fills ? entry : segment.first, entry, !fills};
      else if (fills)
        slot.begin = entry;
      slot.last = entry;
    }
  }

  void finish(const Segment &segment) {
    for (const Slot &slot : slots)
      if (slot.buffer != kNone)
        lives.push_back({slot.buffer, slot.begin,
                         slot.isCarried && segment.isLoop() ? segment.end - 1 : slot.last});
  }

  const ActionTable &table;
  const RankView &rank;
  const AccessReader accesses;
  std::vector<Slot> slots;
  std::vector<Life> lives;
};

class TierReader {
public:
  TierReader(const ActionTable &table, const RankView &rank)
      : table(table), rank(rank), lives(LifeReader(table, rank).read()) {}

  TierMemory read(Tier tier) {
    TierMemory memory{.tier = tier, .arena = rank.layout->arena[static_cast<std::size_t>(tier)]};
    const std::uint32_t entry = findPeak(tier, memory.peak);
    if (memory.peak != 0)
      memory.action = table[entry].action;
    std::vector<std::uint32_t> alive(rank.layout->buffers.size());
    for (const Life &life : lives)
      if (life.begin <= entry && entry <= life.end)
        ++alive[life.buffer];
    for (std::uint32_t index = 0; index < alive.size(); ++index)
      if (const Buffer &buffer = rank.layout->buffers[index]; buffer.tier == tier)
        memory.parts.push_back({index, buffer.extent(), alive[index] * buffer.bytes, alive[index]});
    std::stable_sort(memory.parts.begin(), memory.parts.end(),
                     [](const auto &one, const auto &other) { return one.bytes > other.bytes; });
    return memory;
  }

  std::vector<std::uint64_t> aliveBytes(Tier tier) const {
    std::vector<std::uint64_t> change(rank.end - rank.first + 1); // modulo 2^64
    for (const Life &life : lives)
      if (const Buffer &buffer = rank.layout->buffers[life.buffer]; buffer.tier == tier) {
        change[life.begin - rank.first] += buffer.bytes;
        change[life.end - rank.first + 1] -= buffer.bytes;
      }
    std::partial_sum(change.begin(), change.end(), change.begin());
    change.pop_back();
    return change;
  }

private:
  std::uint32_t findPeak(Tier tier, std::uint64_t &peak) const {
    const std::vector<std::uint64_t> alive = aliveBytes(tier);
    const auto most = std::max_element(alive.begin(), alive.end()); // the first of several
    peak = most == alive.end() ? 0 : *most;
    return rank.first + static_cast<std::uint32_t>(most - alive.begin());
  }

  const ActionTable &table;
  const RankView &rank;
  const std::vector<Life> lives;
};

} // namespace

std::vector<TierMemory> liveSetOf(const ActionTable &table, const RankView &rank) {
  TierReader reader(table, rank);
  std::vector<TierMemory> tiers;
  for (const Tier tier : {Tier::Device, Tier::Host})
    if (rank.layout->arena[static_cast<std::size_t>(tier)] != 0)
      tiers.push_back(reader.read(tier));
  return tiers;
}

std::vector<std::uint64_t> aliveBytesOf(const ActionTable &table, const RankView &rank, Tier tier) {
  return TierReader(table, rank).aliveBytes(tier);
}

} // namespace vime::verify
