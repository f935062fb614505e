#include "compiler/Verify/LongLoops.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "compiler/Verify/Accesses.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {
namespace {

using namespace plan;

/// Who does what, whatever the microbatch.
using Key = std::tuple<std::uint16_t, std::uint8_t, std::uint16_t>; // opcode, lane, stage
Key keyOf(const Action &action) { return {action.opcode, action.lane, action.stage}; }

/// Trips between the first and the last of `count` things of which a trip does `each`.
std::uint64_t tripsFor(std::uint64_t count, std::uint64_t each) { return count / each + 1; }

/// One rank's part of the case.
class Part {
public:
  Part(const Plan &plan, std::uint32_t rank, std::size_t caseIndex, std::uint32_t microbatches)
      : plan(plan), rank(rank), program(*programOf(plan, rank)), layout(*layoutOf(plan, rank)),
        one(program.cases[caseIndex]), microbatches(microbatches) {}

  /// Finds the loop; false if there is not exactly one, in a loop over steps.
  bool findLoop() {
    for (const Stretch &stretch : stretchesOf(program)) {
      if (stretch.within != &one || stretch.trips == 1)
        continue;
      if (loop || !stretch.steps || stretch.loop == stretch.steps)
        return false;
      loop = stretch.loop;
    }
    if (loop)
      advance = program.actions[loop->begin].step;
    return loop && advance != 0;
  }

  bool isOfOneKind() { return advances() && isInOrder() && slotsGoByMicrobatch(); }

  const Loop &found() const { return *loop; }
  std::uint32_t advanceOf() const { return advance; }

  /// Trips to the farthest action that one of the case has to do with, its peers' included.
  std::uint64_t reach() const { return 2 * spread() + rings() + waits() + messages(); }

  /// Adds the messages of a trip to its channels: sent ones count up, received ones down.
  void addMessages(std::map<std::tuple<std::uint32_t, std::uint32_t, Flow>, std::int64_t> &sums) {
    for (const Action &action : body()) {
      const Lane &lane = program.lanes[action.lane];
      if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
        continue;
      const std::uint32_t peer = resolvePeer(plan.mesh, rank, lane.peer);
      const bool sends = lane.kind == LaneKind::Send;
      sums[{sends ? rank : peer, sends ? peer : rank, lane.flow}] += sends ? 1 : -1;
    }
  }

private:
  std::span<const Action> actions(std::uint32_t begin, std::uint32_t end) const {
    return std::span(program.actions).subspan(begin, end - begin);
  }
  std::span<const Action> body() const { return actions(loop->begin, loop->end); }
  std::span<const Action> front() const { return actions(one.begin, loop->begin); }
  std::span<const Action> back() const { return actions(loop->end, one.end); }

  /// What belongs to a microbatch; a message of fixed size moves a buffer of all.
  bool isOfMicrobatch(const Action &action) const {
    const Signature &signature = *signatureOf(action.opcode);
    return signature.perMicrobatch && (signature.family != Family::Transfer ||
                                       program.lanes[action.lane].message.perToken != 0);
  }

  /// Microbatches go on by the loop, in it and behind it.
  bool advances() const {
    const auto all = [&](std::span<const Action> part, std::uint32_t step) {
      return std::all_of(part.begin(), part.end(), [&](const Action &action) {
        return !isOfMicrobatch(action) || action.step == step;
      });
    };
    return std::all_of(body().begin(), body().end(),
                       [&](const Action &action) { return isOfMicrobatch(action); }) &&
           all(front(), 0) && all(body(), advance) && all(back(), advance);
  }

  /// A trip does everything once for each of its microbatches; smaller ones are done in front of
  /// the loop, larger ones behind it.
  bool isInOrder() const {
    std::map<Key, std::vector<std::uint32_t>> own; // by remainder
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    for (const Action &action : body()) {
      auto &first = own.try_emplace(keyOf(action), advance, kNone).first->second;
      if (std::exchange(first[action.microbatch % advance], action.microbatch) != kNone)
        return false;
    }
    for (const auto &[key, first] : own)
      if (std::find(first.begin(), first.end(), kNone) != first.end())
        return false;
    const auto holds = [&](std::span<const Action> part, bool isFront) {
      return std::all_of(part.begin(), part.end(), [&](const Action &action) {
        if (!isOfMicrobatch(action))
          return true;
        const auto found = own.find(keyOf(action));
        return found != own.end() &&
               (action.microbatch < found->second[action.microbatch % advance]) == isFront;
      });
    };
    return holds(front(), true) && holds(back(), false);
  }

  bool wraps(const Buffer &buffer) const { return buffer.count > 1 && buffer.count < microbatches; }

  template <typename Visit> void forEachBuffer(const Action &action, Visit visit) const {
    for (std::uint32_t place = 0; place < action.operandCount; ++place)
      if (const std::uint32_t buffer = program.operands[action.operands + place];
          buffer != kNoBuffer)
        visit(buffer);
  }

  /// What the loop uses lies on bytes of its own, and rings are used by microbatch only.
  bool slotsGoByMicrobatch() const {
    std::vector<char> used(layout.buffers.size(), 0);
    for (const Action &action : body())
      forEachBuffer(action, [&](std::uint32_t buffer) { used[buffer] = 1; });
    bool byMicrobatch = true;
    for (const Action &action : actions(one.begin, one.end))
      forEachBuffer(action, [&](std::uint32_t buffer) {
        byMicrobatch = byMicrobatch &&
                       (!used[buffer] || !wraps(layout.buffers[buffer]) || isOfMicrobatch(action));
      });
    return byMicrobatch && !sharesBytes(used);
  }

  bool sharesBytes(const std::vector<char> &used) const {
    std::vector<std::uint32_t> order(layout.buffers.size());
    for (std::uint32_t index = 0; index < order.size(); ++index)
      order[index] = index;
    const auto placeOf = [&](std::uint32_t index) {
      return std::pair(layout.buffers[index].tier, layout.buffers[index].offset);
    };
    std::sort(order.begin(), order.end(), [&](std::uint32_t before, std::uint32_t after) {
      return placeOf(before) < placeOf(after);
    });
    // The farthest end so far, and whether the loop uses what reaches there.
    std::uint64_t end = 0;
    bool isUsed = false;
    Tier tier = Tier::Device;
    for (const std::uint32_t index : order) {
      const Buffer &buffer = layout.buffers[index];
      if (buffer.tier != tier)
        end = 0;
      tier = buffer.tier;
      if (buffer.offset < end && (used[index] || isUsed))
        return true;
      isUsed = (used[index] != 0) || (buffer.offset < end && isUsed);
      end = std::max(end, buffer.offset + buffer.extent());
    }
    return false;
  }

  /// A microbatch is in work from its first action to its last.
  std::uint64_t spread() const {
    std::uint64_t least = ~std::uint64_t{0}, most = 0;
    for (const Action &action : actions(one.begin, one.end))
      if (isOfMicrobatch(action)) {
        most = std::max<std::uint64_t>(most, action.microbatch);
        if (&action >= body().data())
          least = std::min<std::uint64_t>(least, action.microbatch);
      }
    return tripsFor(most - std::min(most, least), advance);
  }

  /// Until a slot comes round again.
  std::uint64_t rings() const {
    std::uint64_t most = 0;
    for (const Buffer &buffer : layout.buffers)
      if (wraps(buffer))
        most = std::max<std::uint64_t>(most, buffer.count);
    return tripsFor(most, advance);
  }

  std::array<std::uint32_t, Wait::kMaxLanes> onLanes(std::span<const Action> part) const {
    std::array<std::uint32_t, Wait::kMaxLanes> counts{};
    for (const Action &action : part)
      ++counts[action.lane];
    return counts;
  }

  std::uint64_t waits() const {
    const auto counts = onLanes(body());
    std::uint64_t most = 0;
    for (const Action &action : actions(one.begin, one.end))
      for (const Wait wait : action.waits)
        if (!wait.empty() && counts[wait.lane()] != 0)
          most = std::max(most, tripsFor(wait.distance(), counts[wait.lane()]));
    return most;
  }

  /// A message is sent and received in trips that are as far apart as the prologues differ.
  std::uint64_t messages() const {
    const auto before = onLanes(front()), each = onLanes(body());
    std::uint64_t most = 0;
    for (std::size_t lane = 0; lane < each.size(); ++lane)
      if (each[lane] != 0)
        most = std::max(most, tripsFor(before[lane], each[lane]));
    return most;
  }

  const Plan &plan;
  const std::uint32_t rank;
  const Program &program;
  const Layout &layout;
  const Case &one;
  const std::uint32_t microbatches;
  const Loop *loop = nullptr;
  std::uint32_t advance = 0;
};

bool sameLoop(const Loop &one, const Loop &other) {
  return one.id == other.id && one.trips == other.trips && one.start == other.start &&
         one.period == other.period && one.perTrip == other.perTrip;
}

} // namespace

std::optional<LongLoop> longLoopOf(const Plan &plan, std::size_t caseIndex,
                                   std::uint32_t microbatches) {
  std::optional<LongLoop> found;
  std::uint64_t reach = 0;
  std::map<std::tuple<std::uint32_t, std::uint32_t, Flow>, std::int64_t> messages;
  for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank) {
    if (caseIndex >= programOf(plan, rank)->cases.size())
      return std::nullopt;
    Part part(plan, rank, caseIndex, microbatches);
    if (!part.findLoop() || !part.isOfOneKind() ||
        (found && !(sameLoop(part.found(), *found->found) && part.advanceOf() == found->advance)))
      return std::nullopt;
    if (!found)
      found = LongLoop{&part.found(), 0, part.advanceOf()};
    reach = std::max(reach, part.reach());
    part.addMessages(messages);
  }
  constexpr std::uint64_t kMargin = 4; // both edges, and a trip on each side
  const bool keepsUp = std::all_of(messages.begin(), messages.end(),
                                   [](const auto &channel) { return channel.second == 0; });
  if (!found || !keepsUp || reach + kMargin >= found->found->trips)
    return std::nullopt;
  found->enough = static_cast<std::uint32_t>(reach + kMargin);
  return found;
}

} // namespace vime::verify
