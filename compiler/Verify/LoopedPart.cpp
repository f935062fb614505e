#include "compiler/Verify/LoopedPart.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/Verify/Accesses.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {

using namespace plan;

namespace {

constexpr std::uint32_t kNoMicrobatch = ~std::uint32_t{0};

/// Trips between the first and the last of `count` things of which a trip does `each`.
std::uint64_t tripsFor(std::uint64_t count, std::uint64_t each) { return count / each + 1; }

bool holds(std::uint32_t begin, std::uint32_t end, std::uint32_t innerBegin,
           std::uint32_t innerEnd) {
  return begin <= innerBegin && innerEnd <= end;
}

std::array<std::uint32_t, Wait::kMaxLanes> onLanes(std::span<const Action> part) {
  std::array<std::uint32_t, Wait::kMaxLanes> counts{};
  for (const Action &action : part)
    ++counts[action.lane];
  return counts;
}

} // namespace

std::optional<ChannelEnd> endOf(const Plan &plan, std::uint32_t rank, const Lane &lane) {
  if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
    return std::nullopt;
  const std::uint32_t peer = resolvePeer(plan.mesh, rank, lane.peer);
  const bool sends = lane.kind == LaneKind::Send;
  return ChannelEnd{{sends ? rank : peer, sends ? peer : rank, lane.flow}, sends};
}

LoopedPart::LoopedPart(const Plan &plan, std::uint32_t rank, std::size_t caseIndex,
                       std::uint32_t microbatches)
    : plan(plan), rank(rank), program(*programOf(plan, rank)), layout(*layoutOf(plan, rank)),
      one(program.cases[caseIndex]), microbatches(microbatches) {
  for (const Model &model : plan.models)
    copies = std::max(copies, copiesOf(model.stages));
  for (const Loop &loop : program.loops)
    if (holds(one.begin, one.end, loop.begin, loop.end))
      found.push_back(&loop);
  if (!found.empty())
    step = program.actions[found.front()->begin].step;
}

LoopedPart::Key LoopedPart::keyOf(const Action &action) const {
  const bool isTransfer = signatureOf(action.opcode)->family == Family::Transfer;
  return {action.opcode, action.lane,
          isTransfer ? program.operands[action.operands] : std::uint32_t{action.stage}};
}

bool LoopedPart::isOfOneKind() {
  return step != 0 && step % plan.data.slices == 0 && areInSteps() && findDoings() &&
         areInOrder() && ringsGoRound();
}

/// Then the loops of the case hold no others.
bool LoopedPart::areInSteps() const {
  return std::any_of(program.loops.begin(), program.loops.end(), [&](const Loop &loop) {
    return holds(loop.begin, loop.end, one.begin, one.end) &&
           !holds(one.begin, one.end, loop.begin, loop.end);
  });
}

/// A message of fixed size moves a buffer of all microbatches.
bool LoopedPart::isOfMicrobatch(const Action &action) const {
  const Signature &signature = *signatureOf(action.opcode);
  return signature.perMicrobatch &&
         (signature.family != Family::Transfer || program.lanes[action.lane].message.perToken != 0);
}

/// A trip does everything once for each of its microbatches, and no other loop does it.
bool LoopedPart::findDoings() {
  loopOf.assign(all().size(), kNoLoop);
  for (std::size_t loop = 0; loop < found.size(); ++loop)
    for (const Action &action : body(loop)) {
      if (!isOfMicrobatch(action) || action.step != step)
        return false;
      Doing &doing = doings
                         .try_emplace(keyOf(action),
                                      Doing{loop, std::vector<std::uint32_t>(step, kNoMicrobatch)})
                         .first->second;
      loopOf[&action - all().data()] = loop;
      std::uint32_t &first = doing.first[action.microbatch % step];
      if (doing.loop != loop || std::exchange(first, action.microbatch) != kNoMicrobatch)
        return false;
    }
  return std::all_of(doings.begin(), doings.end(), [&](const auto &entry) {
    const std::vector<std::uint32_t> &first = entry.second.first;
    return isOfAll([&](std::size_t remainder) { return first[remainder] != kNoMicrobatch; });
  });
}

/// Whether a trip has all its microbatches, or, where there are several copies of the model, those
/// of one.
template <typename Has> bool LoopedPart::isOfAll(Has has) const {
  const auto areThose = [&](std::uint32_t first, std::uint32_t every) {
    for (std::uint32_t remainder = 0; remainder < step; ++remainder)
      if (has(remainder) != (remainder % every == first))
        return false;
    return true;
  };
  bool found = areThose(0, 1);
  for (std::uint32_t copy = 0; copy < copies && step % copies == 0; ++copy)
    found = found || areThose(copy, copies);
  return found;
}

/// In front of a loop stand smaller microbatches, whatever its trips; behind it larger ones, which
/// go on by them. What no loop does either stays or goes on.
bool LoopedPart::areInOrder() {
  for (std::size_t place = 0; place <= found.size(); ++place)
    for (const Action &action : flat(place)) {
      if (!isOfMicrobatch(action))
        continue;
      const auto doing = doings.find(keyOf(action));
      std::size_t &belongs = loopOf[&action - all().data()];
      if (doing == doings.end()) { // to the loop by whose trips it stays or goes on
        if (action.step == 0 && place < found.size())
          belongs = place;
        else if (action.step == step && place > 0)
          belongs = place - 1;
        else
          return false;
        continue;
      }
      const auto &[loop, first] = doing->second;
      if (first[action.microbatch % step] == kNoMicrobatch)
        return false;
      belongs = loop;
      const bool isSmaller = action.microbatch < first[action.microbatch % step];
      const bool isInFront = place == loop && action.step == 0 && isSmaller;
      const bool isBehind = place == loop + 1 && action.step == step && !isSmaller;
      if (!isInFront && !isBehind)
        return false;
    }
  return true;
}

/// Calls `visit(buffer, writes)`.
template <typename Visit> void LoopedPart::forEachOperand(const Action &action, Visit visit) const {
  const Signature &signature = *signatureOf(action.opcode);
  for (std::uint32_t place = 0; place < action.operandCount; ++place)
    if (const std::uint32_t buffer = program.operands[action.operands + place]; buffer != kNoBuffer)
      visit(buffer, signature.operands[place].access != Access::Read);
}

bool LoopedPart::ringsGoRound() const {
  /// Of each ring the loop that it belongs to, and the remainders that a trip of it writes.
  struct Ring {
    std::size_t loop = 0;
    bool isUsed = false, needsTrips = false; // used by several lanes, or by trips
    std::uint8_t lane = 0;
    std::vector<char> written;
  };
  std::vector<Ring> rings(layout.buffers.size());
  bool isByMicrobatch = true;
  for (const Action &action : all())
    forEachOperand(action, [&](std::uint32_t buffer, bool) {
      if (!wraps(layout.buffers[buffer]))
        return;
      Ring &ring = rings[buffer];
      const std::size_t loop = loopOf[&action - all().data()];
      isByMicrobatch = isByMicrobatch && loop != kNoLoop && (!ring.isUsed || ring.loop == loop);
      if (!ring.isUsed)
        ring = {loop, true, false, action.lane, std::vector<char>(step, 0)};
      ring.needsTrips = ring.needsTrips || ring.lane != action.lane;
    });
  if (!isByMicrobatch)
    return false;
  for (std::size_t loop = 0; loop < found.size(); ++loop)
    for (const Action &action : body(loop))
      forEachOperand(action, [&](std::uint32_t buffer, bool writes) {
        Ring &ring = rings[buffer];
        ring.needsTrips = ring.needsTrips || ring.isUsed;
        if (ring.isUsed && writes)
          ring.written[action.microbatch % step] = 1;
      });
  return !sharesBytes() && std::all_of(rings.begin(), rings.end(), [&](const Ring &ring) {
    return !ring.needsTrips ||
           isOfAll([&](std::size_t remainder) { return ring.written[remainder] != 0; });
  });
}

/// Whether anything that goes by microbatch lies on bytes of something else.
bool LoopedPart::sharesBytes() const {
  std::vector<char> used(layout.buffers.size(), 0);
  for (const Action &action : all())
    if (isOfMicrobatch(action))
      forEachOperand(action, [&](std::uint32_t buffer, bool) { used[buffer] = 1; });
  std::vector<std::uint32_t> order(layout.buffers.size());
  for (std::uint32_t index = 0; index < order.size(); ++index)
    order[index] = index;
  const auto placeOf = [&](std::uint32_t index) {
    return std::pair(layout.buffers[index].tier, layout.buffers[index].offset);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t before, std::uint32_t after) {
    return placeOf(before) < placeOf(after);
  });
  // The farthest end so far, and whether the loops use what reaches there.
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

std::uint64_t LoopedPart::reach() const {
  return std::max({spread(), rings(), waits(), messages()});
}

/// A microbatch is in work from its first action to its last; with several loops between its like
/// in them.
std::uint64_t LoopedPart::spread() const {
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  for (const Action &action : all())
    if (isOfMicrobatch(action)) {
      most = std::max<std::uint64_t>(most, action.microbatch);
      if (action.step != 0)
        least = std::min<std::uint64_t>(least, action.microbatch);
    }
  return tripsFor(most - std::min(most, least), step);
}

/// Until a slot comes round again, for microbatches of one copy of the model.
std::uint64_t LoopedPart::rings() const {
  std::uint64_t most = 0;
  for (const Buffer &buffer : layout.buffers)
    if (wraps(buffer))
      most = std::max(most, round(buffer));
  return tripsFor(most * copies, step);
}

std::uint64_t LoopedPart::waits() const {
  std::uint64_t most = 0;
  for (std::size_t loop = 0; loop < found.size(); ++loop) {
    const auto counts = onLanes(body(loop));
    for (const Action &action : all())
      for (const Wait wait : action.waits)
        if (!wait.empty() && counts[wait.lane()] != 0)
          most = std::max(most, tripsFor(wait.distance(), counts[wait.lane()]));
  }
  return most;
}

/// A message is sent and received in trips that are as far apart as what stands in front differs.
std::uint64_t LoopedPart::messages() const {
  std::uint64_t most = 0;
  std::array<std::uint64_t, Wait::kMaxLanes> before{};
  for (std::size_t loop = 0; loop < found.size(); ++loop) {
    const auto here = onLanes(flat(loop)), each = onLanes(body(loop));
    for (std::size_t lane = 0; lane < each.size(); ++lane) {
      before[lane] += here[lane];
      if (each[lane] != 0)
        most = std::max(most, tripsFor(before[lane], each[lane]));
    }
  }
  return most;
}

void LoopedPart::addMessages(std::map<ChannelKey, ChannelBalance> &balances) const {
  const auto add = [&](Actions part, std::size_t section) {
    for (const Action &action : part) {
      const auto end = endOf(plan, rank, program.lanes[action.lane]);
      if (!end)
        continue;
      ChannelBalance &balance = balances[end->channel];
      balance.left.resize(2 * found.size() + 1, 0);
      balance.left[section] += end->sends ? 1 : -1;
      balance.isInFirstLoop = balance.isInFirstLoop || section == 1;
    }
  };
  for (std::size_t place = 0; place <= found.size(); ++place) {
    add(flat(place), 2 * place);
    if (place < found.size())
      add(body(place), 2 * place + 1);
  }
}

BySection LoopedPart::callsOn(std::size_t lane) const {
  BySection calls;
  for (std::size_t place = 0; place <= found.size(); ++place)
    calls.push_back(onLanes(flat(place))[lane]);
  return calls;
}

} // namespace vime::verify
