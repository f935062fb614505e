#include "compiler/Lowering/Residency.h"

#include <algorithm>
#include <optional>

namespace vime {
namespace {

struct Resident {
  std::uint32_t stage, slot;
};

// For each use the next one of the same stage; their number where there is none.
std::vector<std::size_t> nextUses(std::span<const std::uint32_t> uses) {
  std::vector<std::size_t> next(uses.size());
  std::vector<std::size_t> known;
  for (std::size_t use = uses.size(); use-- > 0;) {
    known.resize(std::max<std::size_t>(known.size(), uses[use] + 1), uses.size());
    next[use] = known[uses[use]];
    known[uses[use]] = use;
  }
  return next;
}

// The stage's own one, if nobody is there.
template <typename IsTaken>
std::uint32_t freeSlot(std::uint32_t stage, std::uint32_t window, IsTaken isTaken) {
  std::uint32_t slot = stage % window;
  while (isTaken(slot))
    slot = (slot + 1) % window;
  return slot;
}

std::vector<ResidencyEvent> fewestUnshards(std::span<const std::uint32_t> uses,
                                           std::uint32_t window) {
  struct Held {
    bool isTaken = false;
    std::uint32_t stage = 0;
    std::size_t next = 0, free = 0; // use that needs it next, and from which on nobody does
  };
  const std::vector<std::size_t> next = nextUses(uses);
  std::vector<Held> slots(window);
  std::vector<ResidencyEvent> events;
  std::uint32_t taken = 0;
  const auto unshard = [&](std::uint32_t stage) {
    std::uint32_t slot = 0;
    if (taken < window) {
      slot = freeSlot(stage, window, [&](std::uint32_t one) { return slots[one].isTaken; });
      events.push_back({0, stage, slot, true});
      ++taken;
    } else {
      const auto last =
          std::max_element(slots.begin(), slots.end(), [](const Held &one, const Held &other) {
            return one.next < other.next;
          });
      slot = static_cast<std::uint32_t>(last - slots.begin());
      events.push_back({last->free, last->stage, slot, false});
      events.push_back({last->free, stage, slot, true});
    }
    slots[slot].isTaken = true;
    slots[slot].stage = stage;
    return slots.begin() + slot;
  };
  for (std::size_t use = 0; use < uses.size(); ++use) {
    auto held = std::find_if(slots.begin(), slots.end(), [&](const Held &one) {
      return one.isTaken && one.stage == uses[use];
    });
    if (held == slots.end())
      held = unshard(uses[use]);
    held->next = next[use];
    held->free = use + 1;
  }
  for (std::uint32_t slot = 0; slot < window; ++slot)
    if (slots[slot].isTaken)
      events.push_back({slots[slot].free, slots[slot].stage, slot, false});
  std::stable_sort(events.begin(), events.end(),
                   [](const ResidencyEvent &one, const ResidencyEvent &other) {
                     return one.before < other.before;
                   });
  return events;
}

std::vector<ResidencyEvent> asTorch(std::span<const std::uint32_t> uses, std::uint32_t window) {
  std::vector<Resident> residents; // ascending by stage
  std::vector<ResidencyEvent> events;
  for (std::size_t use = 0; use <= uses.size(); ++use) {
    std::vector<std::uint32_t> wanted;
    for (std::size_t ahead = use; ahead < uses.size() && wanted.size() < window; ++ahead)
      if (std::find(wanted.begin(), wanted.end(), uses[ahead]) == wanted.end())
        wanted.push_back(uses[ahead]);
    std::erase_if(residents, [&](const Resident &one) {
      const bool stays = std::find(wanted.begin(), wanted.end(), one.stage) != wanted.end();
      if (!stays)
        events.push_back({use, one.stage, one.slot, false});
      return !stays;
    });
    for (const std::uint32_t stage : wanted) {
      const auto place = std::lower_bound(
          residents.begin(), residents.end(), stage,
          [](const Resident &one, std::uint32_t other) { return one.stage < other; });
      if (place != residents.end() && place->stage == stage)
        continue;
      const std::uint32_t slot = freeSlot(stage, window, [&](std::uint32_t one) {
        return std::any_of(residents.begin(), residents.end(),
                           [one](const Resident &other) { return other.slot == one; });
      });
      residents.insert(place, {stage, slot});
      events.push_back({use, stage, slot, true});
    }
  }
  return events;
}

} // namespace

std::vector<ResidencyEvent> planResidency(std::span<const std::uint32_t> uses, std::uint32_t window,
                                          ResidencyRule rule) {
  return rule == ResidencyRule::Torch ? asTorch(uses, window) : fewestUnshards(uses, window);
}

} // namespace vime
