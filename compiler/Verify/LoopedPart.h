// LoopedPart: what one rank does in a case with loops over microbatches: whether the trips of each
// loop differ in nothing but their microbatches, and how many trips apart actions can be that have
// to do with each other.
//
//   LoopedPart part(plan, rank, caseIndex, microbatches);
//   if (part.isOfOneKind())
//     part.loops(), part.advance(), part.reach() …
//
// Why this is enough to judge few trips for many: LongLoops.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "runtime/Plan/Slices.h"

namespace vime::verify {

/// Messages of a channel by section of the case, sent ones counted up, received ones down; or calls
/// of a group.
using BySection = std::vector<std::int64_t>;

struct ChannelBalance {
  BySection left; // in front of the first loop, in it, behind it, in the second loop, …
  bool isInFirstLoop = false;
};
using ChannelKey = std::tuple<std::uint32_t, std::uint32_t, plan::Flow>; // source, destination

struct ChannelEnd {
  ChannelKey channel;
  bool sends;
};
/// Nothing if the lane is no end of a channel.
std::optional<ChannelEnd> endOf(const plan::Plan &plan, std::uint32_t rank, const plan::Lane &lane);

class LoopedPart {
public:
  /// A pass has `microbatches` at most.
  LoopedPart(const plan::Plan &plan, std::uint32_t rank, std::size_t caseIndex,
             std::uint32_t microbatches);

  /// Every loop of the case goes on by one number of microbatches, each does what no other one
  /// does, smaller microbatches stand in front of it and larger ones behind it, and rings are told
  /// apart by microbatch alone.
  bool isOfOneKind();

  std::span<const plan::Loop *const> loops() const { return found; }
  std::uint32_t advance() const { return step; }

  /// Trips to the farthest action that one of the case has to do with, its peers' included; of two
  /// loops, by which one can be further behind its start than the other.
  std::uint64_t reach() const;

  /// Adds what this rank sends and receives.
  void addMessages(std::map<ChannelKey, ChannelBalance> &balances) const;
  /// Calls of the group on a lane.
  BySection callsOn(std::size_t lane) const;

private:
  /// Who does what, whatever the microbatch: opcode, lane, and stage; of a transfer the buffer that
  /// it moves, since messages of several stages pass through one channel.
  using Key = std::tuple<std::uint16_t, std::uint8_t, std::uint32_t>;
  Key keyOf(const plan::Action &action) const;
  /// What one loop does: from which microbatch on, by remainder.
  struct Doing {
    std::size_t loop;
    std::vector<std::uint32_t> first;
  };
  using Actions = std::span<const plan::Action>;

  Actions all() const { return between(one.begin, one.end); }
  Actions between(std::uint32_t begin, std::uint32_t end) const {
    return std::span(program.actions).subspan(begin, end - begin);
  }
  Actions body(std::size_t loop) const { return between(found[loop]->begin, found[loop]->end); }
  /// In front of a loop, up to the one before; or behind the last one.
  Actions flat(std::size_t place) const {
    return between(place == 0 ? one.begin : found[place - 1]->end,
                   place == found.size() ? one.end : found[place]->begin);
  }
  bool isOfMicrobatch(const plan::Action &action) const;
  /// Microbatches until a slot comes round again.
  std::uint64_t round(const plan::Buffer &buffer) const {
    return std::uint64_t(buffer.count) * microbatchesPerSlot(plan.data, buffer.kind);
  }
  bool wraps(const plan::Buffer &buffer) const {
    return buffer.count > 1 && round(buffer) < microbatches;
  }
  template <typename Visit> void forEachOperand(const plan::Action &action, Visit visit) const;

  bool areInSteps() const;
  template <typename Has> bool isOfAll(Has has) const;
  bool findDoings();
  bool areInOrder();
  bool ringsGoRound() const;
  bool sharesBytes() const;
  std::uint64_t spread() const;
  std::uint64_t rings() const;
  std::uint64_t waits() const;
  std::uint64_t messages() const;

  const plan::Plan &plan;
  const std::uint32_t rank;
  const plan::Program &program;
  const plan::Layout &layout;
  const plan::Case &one;
  const std::uint32_t microbatches;
  std::vector<const plan::Loop *> found;
  std::uint32_t step = 0;
  std::uint32_t copies = 1; // of the model
  std::map<Key, Doing> doings;
  static constexpr std::size_t kNoLoop = ~std::size_t{0};
  std::vector<std::size_t> loopOf; // by action of the case; kNoLoop: of no microbatch
};

} // namespace vime::verify
