// When whole weights are there: by hand, against all choices of small cases, and as PyTorch does
// it.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/Lowering/Residency.h"
#include "schedules/Registry.h"
#include "schedules/TorchLowering.h"

namespace vime {
namespace {

using Uses = std::vector<std::uint32_t>;

/// `+2 0 1 -2 …`: the uses, and what happens between them.
std::string text(const Uses &uses, const std::vector<ResidencyEvent> &events) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t use = 0; use <= uses.size(); ++use) {
    for (; next < events.size() && events[next].before == use; ++next)
      text += (events[next].unshards ? "+" : "-") + std::to_string(events[next].stage) + " ";
    if (use < uses.size())
      text += std::to_string(uses[use]) + " ";
  }
  EXPECT_EQ(next, events.size()) << "events stand in order";
  return text;
}

std::size_t unshards(const std::vector<ResidencyEvent> &events) {
  return static_cast<std::size_t>(std::count_if(
      events.begin(), events.end(), [](const ResidencyEvent &event) { return event.unshards; }));
}

/// Every use finds its stage, no slot holds two, nothing is left.
void expectLegal(const Uses &uses, std::uint32_t window,
                 const std::vector<ResidencyEvent> &events) {
  std::map<std::uint32_t, std::uint32_t> slots;
  std::size_t next = 0;
  for (std::size_t use = 0; use <= uses.size(); ++use) {
    for (; next < events.size() && events[next].before == use; ++next) {
      const ResidencyEvent &event = events[next];
      ASSERT_LT(event.slot, window);
      if (event.unshards) {
        ASSERT_TRUE(slots.emplace(event.slot, event.stage).second) << "a slot that is taken";
      } else {
        ASSERT_EQ(slots.at(event.slot), event.stage);
        slots.erase(event.slot);
      }
    }
    if (use < uses.size()) {
      ASSERT_TRUE(std::any_of(slots.begin(), slots.end(),
                              [&](const auto &slot) { return slot.second == uses[use]; }))
          << "use " << use;
    }
  }
  EXPECT_TRUE(slots.empty());
}

/// The fewest unshards of all ways to give way.
std::size_t least(const Uses &uses, std::uint32_t window, std::size_t use, Uses there) {
  if (use == uses.size())
    return 0;
  if (std::find(there.begin(), there.end(), uses[use]) != there.end())
    return least(uses, window, use + 1, there);
  if (there.size() < window) {
    there.push_back(uses[use]);
    return 1 + least(uses, window, use + 1, there);
  }
  std::size_t best = uses.size();
  for (std::uint32_t &stage : there) {
    const std::uint32_t before = std::exchange(stage, uses[use]);
    best = std::min(best, 1 + least(uses, window, use + 1, there));
    stage = before;
  }
  return best;
}

TEST(Residency, RoomForAll) {
  const Uses uses = {0, 1, 2, 2, 1, 0};
  EXPECT_EQ(text(uses, planResidency(uses, 3)), "+0 +1 +2 0 1 2 2 -2 1 -1 0 -0 ");
}

TEST(Residency, TheFarthestGivesWayAsSoonAsItCan) {
  const Uses uses = {0, 1, 2, 2, 1, 0};
  EXPECT_EQ(text(uses, planResidency(uses, 2)), "+0 +1 0 -0 +2 1 2 2 -2 +0 1 -1 0 -0 ");
  EXPECT_EQ(text(uses, planResidency(uses, 1)), "+0 0 -0 +1 1 -1 +2 2 2 -2 +1 1 -1 +0 0 -0 ");
}

TEST(Residency, NoOtherWayUnshardsLess) {
  std::uint64_t state = 1;
  for (int round = 0; round < 200; ++round) {
    Uses uses;
    for (int use = 0; use < 12; ++use) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      uses.push_back(static_cast<std::uint32_t>(state >> 60) % 5);
    }
    for (const std::uint32_t window : {1u, 2u, 3u, 5u}) {
      const auto events = planResidency(uses, window);
      expectLegal(uses, window, events);
      EXPECT_EQ(unshards(events), least(uses, window, 0, {})) << text(uses, events);
      expectLegal(uses, window, planResidency(uses, window, ResidencyRule::Torch));
    }
  }
}

// Rank 0 of PyTorch's interleaved order of 2 ranks, 4 stages each and one microbatch, stages by
// their place on the rank.
TEST(Residency, AsPyTorchDoesIt) {
  const Uses uses = {0, 1, 2, 3, 3, 2, 1, 0};
  EXPECT_EQ(text(uses, planResidency(uses, 3, ResidencyRule::Torch)),
            "+0 +1 +2 0 -0 +3 1 2 3 3 -3 +0 2 -2 1 -1 0 -0 ");
}

/// The tables that PyTorch's lowering makes, without transfers and reductions.
TEST(Residency, AsPyTorchTablesHaveIt) {
  for (const char *name : {"gpipe", "looped-bfs", "interleaved", "zb-v", "interleaved-zb"})
    for (const int chunks : {2, 4}) {
      const Order &order = *findOrder(name);
      const ScheduleShape shape =
          shapeFor(order, 4, 8, std::clamp(chunks, order.chunks.least, order.chunks.most));
      const Schedule schedule = order.build(shape);
      for (const int window : {1, 2, 3}) {
        const OrderTable table = withShards(schedule, window);
        for (const std::vector<TableEntry> &row : table.rows) {
          Uses uses;
          std::string expected;
          for (const TableEntry &entry : row) {
            if (isTask(entry.kind))
              uses.push_back(static_cast<std::uint32_t>(entry.stage));
            if (isTask(entry.kind) || entry.kind == CellKind::Unshard ||
                entry.kind == CellKind::Reshard)
              expected += (entry.kind == CellKind::Unshard   ? "+"
                           : entry.kind == CellKind::Reshard ? "-"
                                                             : "") +
                          std::to_string(entry.stage) + " ";
          }
          EXPECT_EQ(text(uses, planResidency(uses, static_cast<std::uint32_t>(window),
                                             ResidencyRule::Torch)),
                    expected)
              << name << ", window " << window;
        }
      }
    }
}

// Its known weakness: with four stages a rank and sixteen microbatches of groups of four a window
// of three gathers the last stage four times, one of four once.
TEST(Residency, ThreeAreTooFewForFour) {
  Uses uses;
  constexpr std::uint32_t kRanks = 4, kStages = 4, kMicrobatches = 16;
  const auto forward = [&](std::uint32_t task) { uses.push_back(task / kRanks % kStages); };
  const auto backward = [&](std::uint32_t task) {
    uses.push_back(kStages - 1 - task / kRanks % kStages);
  };
  // Rank 3 of Megatron's interleaved order: warm-up of (stages - 1) * ranks, then one of each.
  constexpr std::uint32_t kTasks = kStages * kMicrobatches, kWarmup = (kStages - 1) * kRanks;
  for (std::uint32_t task = 0; task < kWarmup; ++task)
    forward(task);
  for (std::uint32_t task = 0; task < kTasks - kWarmup; ++task)
    forward(kWarmup + task), backward(task);
  for (std::uint32_t task = kTasks - kWarmup; task < kTasks; ++task)
    backward(task);
  const auto ofLast = [&](std::uint32_t window) {
    const auto events = planResidency(uses, window, ResidencyRule::Torch);
    return std::count_if(events.begin(), events.end(), [](const ResidencyEvent &event) {
      return event.unshards && event.stage == kStages - 1;
    });
  };
  EXPECT_EQ(ofLast(3), 4);
  EXPECT_EQ(ofLast(4), 1);
}

} // namespace
} // namespace vime
