// What a run touches is what its plan says: every action its operands, as its signature has them;
// every page somebody; and at no time more is alive than `vimec show --memory` says, nor less.
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/LiveSet.h"
#include "kernels/Workspace.h"
#include "runtime/Plan/Describe.h"
#include "tests/Memory/Shadow.h"
#include "tests/Memory/TrainingShapes.h"

namespace vime {
namespace {

using namespace plan;
using verify::AccessReader;
using verify::ActionTable;
using verify::RankView;
using verify::SlotAccess;

/// A slot of a buffer, and what became of it.
struct Use {
  std::uint32_t buffer = 0, slot = 0;
  bool reads = false, writes = false;
};

/// The dispatcher itself looks at these, in the middle of transfers and between actions.
bool isOfDispatcher(const Buffer &buffer) {
  return buffer.kind == BufferKind::Header || buffer.kind == BufferKind::Scalars;
}

/// A rank of a run that was watched.
class WatchedRank {
public:
  WatchedRank(const ActionTable &table, const RankView &rank, const Shadow &shadow)
      : table(table), rank(rank), shadow(shadow), accesses(table, rank) {
    for (const Tier tier : {Tier::Device, Tier::Host})
      regions.push_back(regionsOf(*rank.layout, tier));
    align();
  }

  std::string nameOf(std::uint32_t entry, const Use &use) const {
    return fmt::format("rank {}, {}: slot {} of {}", rank.rank,
                       describe(table.plan(), rank.rank, table[entry].action), use.slot,
                       describeBuffer(table.plan(), rank.rank, use.buffer));
  }
  const Buffer &bufferOf(const Use &use) const { return rank.layout->buffers[use.buffer]; }

  std::vector<Use> declared(std::uint32_t entry) const {
    std::vector<Use> uses;
    accesses.forEach(entry, [&](const SlotAccess &access) {
      for (std::uint32_t slot = access.first; slot < access.end; ++slot)
        uses.push_back(
            {access.buffer, slot - rank.slots[access.buffer].first, access.reads, access.writes});
    });
    return uses;
  }

  /// An operand that is there for others: a header, which the dispatcher reads for its action;
  /// tokens, of which an embedding has no gradient; a message to nobody.
  bool isIdle(std::uint32_t entry, const Use &use) const {
    const Action &action = table.action(rank, entry);
    const BufferKind kind = bufferOf(use).kind;
    return kind == BufferKind::Header ||
           (kind == BufferKind::Tokens && action.opcode == code(Opcode::BackwardInput)) ||
           (action.opcode == code(Opcode::Broadcast) && table.plan().mesh.ranks() == 1);
  }

  /// A few numbers, of which an action writes some: others stay, which no page can tell.
  bool isUpdatedInPart(const Use &use) const {
    const BufferKind kind = bufferOf(use).kind;
    return kind == BufferKind::Stats || kind == BufferKind::Squares;
  }

  /// Slots that messages move together are on the same page: of those, the declared ones; and room
  /// for sums, which only sockets need.
  std::vector<Use> observed(std::uint32_t entry) const {
    std::vector<Use> uses;
    for (const Touch &touch : traced[entry - rank.first]->touches) {
      const Region &region = regions[static_cast<std::size_t>(touch.tier)][touch.region];
      const Buffer &buffer = rank.layout->buffers[region.buffer];
      if (region.extent.end - region.extent.begin == buffer.bytes) {
        uses.push_back({region.buffer, region.slot, touch.readFirst, touch.wrote});
        continue;
      }
      for (const Use &use : declared(entry))
        if (use.buffer == region.buffer)
          uses.push_back(use);
    }
    for (const Use &use : declared(entry))
      if (bufferOf(use).kind == BufferKind::Staging)
        uses.push_back(use);
    return uses;
  }

  const ActionTable &table;
  const RankView &rank;
  const Shadow &shadow;

private:
  /// Finds the entries in the trace; those of a loop over steps in its last iteration.
  void align() {
    const std::vector<TracedAction> &trace = shadow.trace(rank.rank);
    std::uint64_t at = 0;
    for (const verify::Segment &segment : rank.segments) {
      const std::uint64_t length = segment.end - segment.first;
      at += (segment.trips - 1) * length;
      for (std::uint32_t entry = segment.first; entry < segment.end; ++entry, ++at) {
        ASSERT_LT(at, trace.size());
        ASSERT_EQ(trace[at].action, table[entry].action);
        traced.push_back(&trace[at]);
      }
    }
    ASSERT_EQ(at, trace.size());
  }

  std::vector<const TracedAction *> traced; // by entry
  const AccessReader accesses;
  std::vector<std::vector<Region>> regions; // by tier
};

const Use *find(const std::vector<Use> &uses, const Use &wanted) {
  for (const Use &use : uses)
    if (use.buffer == wanted.buffer && use.slot == wanted.slot)
      return &use;
  return nullptr;
}

void expectDeclared(const WatchedRank &watched, std::uint32_t entry) {
  const std::vector<Use> declared = watched.declared(entry), observed = watched.observed(entry);
  for (const Use &use : observed) {
    if (isOfDispatcher(watched.bufferOf(use)))
      continue;
    const Use *allowed = find(declared, use);
    EXPECT_TRUE(allowed) << watched.nameOf(entry, use) << " is touched, but no operand";
    if (allowed) {
      EXPECT_LE(use.reads, allowed->reads) << watched.nameOf(entry, use);
      EXPECT_LE(use.writes, allowed->writes) << watched.nameOf(entry, use) << " is written";
    }
  }
  for (const Use &use : declared) {
    if (watched.isIdle(entry, use))
      continue;
    const Use *seen = find(observed, use);
    EXPECT_TRUE(seen) << watched.nameOf(entry, use) << " is never touched";
    if (seen && !watched.isUpdatedInPart(use)) {
      EXPECT_EQ(seen->reads, use.reads) << watched.nameOf(entry, use) << " and what was there";
    }
  }
}

/// Bytes alive at each entry of the rank, counted from what was touched.
class AliveCount {
public:
  explicit AliveCount(const WatchedRank &watched) : watched(watched) {
    for (const verify::Segment &segment : watched.rank.segments)
      follow(segment);
  }

  /// The first entry with most bytes of the tier, and how many.
  std::pair<std::uint32_t, std::uint64_t> peak(Tier tier) const {
    std::pair<std::uint32_t, std::uint64_t> most{watched.rank.first, 0};
    for (std::uint32_t entry = watched.rank.first; entry < watched.rank.end; ++entry) {
      std::uint64_t bytes = 0;
      for (const auto &[buffer, slots] : slotsAt(entry))
        if (watched.rank.layout->buffers[buffer].tier == tier)
          bytes += slots * watched.rank.layout->buffers[buffer].bytes;
      if (bytes > most.second)
        most = {entry, bytes};
    }
    return most;
  }

  /// By buffer.
  std::map<std::uint32_t, std::uint32_t> slotsAt(std::uint32_t entry) const {
    std::map<std::uint32_t, std::uint32_t> slots;
    for (const Life &life : lives)
      if (life.begin <= entry && entry <= life.end)
        ++slots[life.buffer];
    return slots;
  }

private:
  struct Life {
    std::uint32_t buffer, begin, end;
  };
  struct Moment {
    std::uint32_t entry;
    bool fills; // it was written, and not read before
  };

  void follow(const verify::Segment &segment) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Moment>> moments;
    for (std::uint32_t entry = segment.first; entry < segment.end; ++entry)
      for (const Use &use : watched.observed(entry))
        moments[{use.buffer, use.slot}].push_back(
            {entry, use.writes && !use.reads && !watched.isUpdatedInPart(use)});
    for (const auto &[slot, uses] : moments)
      addLives(segment, slot.first, uses);
  }

  /// What is there at the start of a step is there at its end.
  void addLives(const verify::Segment &segment, std::uint32_t buffer,
                const std::vector<Moment> &uses) {
    Life life{buffer, uses.front().fills ? uses.front().entry : segment.first, 0};
    for (std::size_t index = 0; index < uses.size(); ++index) {
      if (index > 0 && uses[index].fills) {
        lives.push_back({buffer, life.begin, uses[index - 1].entry});
        life.begin = uses[index].entry;
      }
    }
    const bool isCarried = !uses.front().fills && segment.isLoop();
    lives.push_back({buffer, life.begin, isCarried ? segment.end - 1 : uses.back().entry});
  }

  const WatchedRank &watched;
  std::vector<Life> lives;
};

void expectAlive(const WatchedRank &watched) {
  const AliveCount count(watched);
  for (const verify::TierMemory &memory : liveSetOf(watched.table, watched.rank)) {
    const auto [entry, bytes] = count.peak(memory.tier);
    EXPECT_EQ(bytes, memory.peak);
    EXPECT_EQ(watched.table[entry].action, memory.action);
    const auto slots = count.slotsAt(entry);
    for (const verify::MemoryPart &part : memory.parts)
      EXPECT_EQ(slots.count(part.buffer) ? slots.at(part.buffer) : 0, part.aliveSlots)
          << describeBuffer(watched.table.plan(), watched.rank.rank, part.buffer);
  }
}

/// Of workspaces less than kernels may leave unused (tests/kernels/WorkspaceTest.cpp); of all else
/// nothing.
void expectNoPageInVain(const WatchedRank &watched) {
  for (const Tier tier : {Tier::Device, Tier::Host}) {
    const std::vector<Region> regions = regionsOf(*watched.rank.layout, tier);
    const std::vector<std::uint64_t> untouched =
        watched.shadow.untouchedBytes(watched.rank.rank, tier);
    for (std::size_t region = 0; region < regions.size(); ++region) {
      const Buffer &buffer = watched.rank.layout->buffers[regions[region].buffer];
      const bool isWorkspace = buffer.kind == BufferKind::Workspace;
      if (buffer.kind == BufferKind::Staging)
        continue; // of sockets
      EXPECT_LE(untouched[region],
                isWorkspace ? unusedWorkspace(watched.table.plan().models[0].config.type) : 0)
          << describeBuffer(watched.table.plan(), watched.rank.rank, regions[region].buffer);
    }
  }
}

class Shadowed : public testing::TestWithParam<NamedShape> {};

TEST_P(Shadowed, WhatIsTouchedIsWhatThePlanSays) {
#if defined(VIME_ADDRESS_SANITIZER) || defined(VIME_THREAD_SANITIZER)
  GTEST_SKIP() << "a sanitizer wants faults for itself";
#endif
  if (GetParam().shape.hasShortSteps)
    GTEST_SKIP() << "its steps do not all run the same actions";
  const TrainingJob job(GetParam().shape);
  const Outcome usual = job.run(job.plan);
  const Plan wide = spread(job.plan, Side::Start);
  const Shadow shadow(wide);
  EXPECT_TRUE(job.run(wide, &shadow.probe()) == usual);
  ASSERT_EQ(shadow.problem(), "");
  const ActionTable table(wide, verify::choicesOf(wide).front());
  for (const RankView &rank : table.ranks()) {
    SCOPED_TRACE(fmt::format("rank {}", rank.rank));
    const WatchedRank watched(table, rank, shadow);
    if (HasFatalFailure())
      return;
    expectNoPageInVain(watched);
    for (const Touch &touch : shadow.betweenActions(rank.rank)) {
      const std::uint32_t buffer = regionsOf(*rank.layout, touch.tier)[touch.region].buffer;
      EXPECT_TRUE(isOfDispatcher(rank.layout->buffers[buffer]) && !touch.wrote)
          << describeBuffer(wide, rank.rank, buffer) << " is touched between actions";
    }
    for (std::uint32_t entry = rank.first; entry < rank.end; ++entry)
      expectDeclared(watched, entry);
    expectAlive(watched);
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, Shadowed, testing::ValuesIn(trainingShapes()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace vime
