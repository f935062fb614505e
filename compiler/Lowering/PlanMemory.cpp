#include "compiler/Lowering/PlanMemory.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <span>

#include "compiler/Lowering/DeriveWaits.h"
#include "compiler/Lowering/RankBuffers.h"
#include "runtime/Base/SideBySide.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Slices.h"

namespace vime {

using namespace plan;

namespace {

// Trips of which the first ones show what all others do: rings have their slots, waits their reach.
constexpr std::uint32_t kShownTrips = 512;

// Of each loop of the table.
std::vector<std::uint32_t> atMost(const Program &program, std::uint32_t most) {
  std::vector<std::uint32_t> trips;
  for (const Loop &loop : program.loops)
    trips.push_back(std::min(loop.trips, most));
  return trips;
}

// What a ring of microbatches is used by: most at once, and by how many microbatches one is from
// the next. Of two copies of the model each runs every other one.
struct RingUse {
  std::uint32_t live = 1, stride = 1;
  bool operator==(const RingUse &) const = default;

  // Microbatch b takes slot b modulo their number: as many microbatches in a row as there are slots
  // take different ones if stride and number have no divisor in common.
  std::uint32_t slots(std::uint32_t least) const {
    std::uint32_t count = std::max(live, least);
    while (std::gcd(count, stride) != 1)
      ++count;
    return count;
  }
};

// Of each buffer of a program: the slots that it has at least, on the ranks that share it.
std::vector<std::uint32_t> leastSlots(const Plan &plan, std::size_t index, const Layout &layout,
                                      const ReceiveSlots &slots) {
  const Program &program = plan.programs[index];
  std::vector<std::uint32_t> least(layout.buffers.size(), 1);
  const auto raise = [&](std::uint32_t buffer, int count) {
    least[buffer] = std::max(least[buffer], static_cast<std::uint32_t>(count));
  };
  const auto into = [&](std::uint32_t rank) {
    return slots.into(static_cast<int>(rank % plan.mesh.pipeline));
  };
  for (std::uint32_t rank = 0; rank < plan.programOf.size(); ++rank) {
    if (plan.programOf[rank] != index)
      continue;
    for (std::uint32_t buffer = 0; buffer < layout.buffers.size(); ++buffer)
      if (const BufferKind kind = layout.buffers[buffer].kind;
          kind == BufferKind::Input || kind == BufferKind::OutputGradient)
        raise(buffer, std::min(into(rank), kUsualSlots));
      else if (kind == BufferKind::Output || kind == BufferKind::InputGradient)
        raise(buffer, kUsualSlots);
    for (const Action &action : program.actions)
      if (action.opcode == code(Opcode::Send))
        raise(program.operands[action.operands],
              into(resolvePeer(plan.mesh, rank, program.lanes[action.lane].peer)));
  }
  return least;
}

// Sizes the rings of one rank and places its buffers.
class RankLayout {
public:
  RankLayout(Program &program, Layout &layout, const DataSettings &data,
             const std::vector<std::uint32_t> &sameBytes, std::uint32_t microbatches,
             std::vector<std::uint32_t> least)
      : program(program), layout(layout), data(data), sameBytes(sameBytes),
        microbatches(microbatches), least(std::move(least)) {}

  void make() {
    sizeRings();
    sizeChannels();
    place();
  }

private:
  // Slots so that in dispatch order a microbatch's first use stands behind the last use of the one
  // whose slot it takes.
  void sizeRings() {
    std::vector<std::uint32_t> rings;
    std::vector<std::uint32_t> ringOf(layout.buffers.size(), kNoBuffer);
    for (std::uint32_t buffer = 0; buffer < layout.buffers.size(); ++buffer)
      if (isMicrobatchRing(layout.buffers[buffer].kind)) {
        ringOf[buffer] = static_cast<std::uint32_t>(rings.size());
        rings.push_back(buffer);
      }
    const auto uses = settledUses(ringOf, rings.size());
    for (std::size_t ring = 0; ring < rings.size(); ++ring) {
      Buffer &buffer = layout.buffers[rings[ring]];
      buffer.count = std::min(microbatches / microbatchesPerSlot(data, buffer.kind),
                              uses[ring].slots(least[rings[ring]]));
    }
  }

  // Uses that are the same after twice the trips are the same after all of them.
  std::vector<RingUse> settledUses(const std::vector<std::uint32_t> &ringOf,
                                   std::size_t rings) const {
    const std::vector<Stretch> stretches = stretchesOf(program);
    const bool isShort =
        std::all_of(stretches.begin(), stretches.end(),
                    [](const Stretch &stretch) { return stretch.trips <= kShownTrips; });
    const auto few = usesAfter(kShownTrips, ringOf, rings);
    if (isShort)
      return few;
    const auto more = usesAfter(2 * kShownTrips, ringOf, rings);
    return few == more ? few : usesAfter(microbatches, ringOf, rings);
  }

  std::vector<RingUse> usesAfter(std::uint32_t trips, const std::vector<std::uint32_t> &ringOf,
                                 std::size_t rings) const {
    std::vector<RingUse> uses(rings);
    const std::vector<Stretch> stretches = stretchesOf(program, atMost(program, trips));
    // All lanes are drained at the edges of cases, and microbatches count from 0 again behind them;
    // but what stands outside of cases is one pass, also if a case interrupts it.
    std::vector<Stretch> outside;
    for (auto begin = stretches.begin(); begin != stretches.end();) {
      const auto end = std::find_if(begin, stretches.end(), [&](const Stretch &stretch) {
        return stretch.within != begin->within;
      });
      if (begin->within)
        addUses({begin, end}, ringOf, uses);
      else
        outside.insert(outside.end(), begin, end);
      begin = end;
    }
    addUses(outside, ringOf, uses);
    return uses;
  }

  // Raises the use of each ring to what the actions of the stretches need.
  void addUses(std::span<const Stretch> stretches, const std::vector<std::uint32_t> &ringOf,
               std::vector<RingUse> &uses) const {
    std::vector<std::uint32_t> lastUse(uses.size() * microbatches, 0);
    auto forEachUse = [&](auto &&visit) {
      std::uint32_t moment = 0;
      for (const Stretch &stretch : stretches)
        for (std::uint32_t iteration = 0; iteration < stretch.trips; ++iteration)
          for (std::uint32_t index = stretch.begin; index < stretch.end; ++index, ++moment) {
            const Action &action = program.actions[index];
            for (std::uint32_t place = 0; place < action.operandCount; ++place) {
              const std::uint32_t buffer = program.operands[action.operands + place];
              if (buffer != kNoBuffer && ringOf[buffer] != kNoBuffer)
                visit(ringOf[buffer],
                      stretch.microbatchOf(action, iteration) /
                          microbatchesPerSlot(data, layout.buffers[buffer].kind),
                      moment);
            }
          }
    };
    constexpr std::uint32_t kUnused = ~0u;
    std::vector<std::uint32_t> any(uses.size(), kUnused), stride(uses.size(), 0);
    forEachUse([&](std::uint32_t ring, std::uint32_t microbatch, std::uint32_t moment) {
      lastUse[ring * microbatches + microbatch] = moment;
      any[ring] = any[ring] == kUnused ? microbatch : any[ring];
      stride[ring] = std::gcd(stride[ring], microbatch > any[ring] ? microbatch - any[ring]
                                                                   : any[ring] - microbatch);
    });
    std::vector<std::uint32_t> released(uses.size(), 0);
    forEachUse([&](std::uint32_t ring, std::uint32_t microbatch, std::uint32_t moment) {
      std::uint32_t &first = released[ring];
      while (first < microbatch && lastUse[ring * microbatches + first] < moment)
        ++first;
      if (microbatch >= first)
        uses[ring].live =
            std::max(uses[ring].live, (microbatch - first) / std::max(stride[ring], 1u) + 1);
    });
    for (std::size_t ring = 0; ring < uses.size(); ++ring)
      uses[ring].stride = std::lcm(uses[ring].stride, std::max(stride[ring], 1u));
  }

  // A channel can have as many messages under way as the rings behind its receives have slots.
  void sizeChannels() {
    std::vector<std::vector<std::uint32_t>> buffers(program.lanes.size());
    for (const Action &action : program.actions)
      if (action.opcode == code(Opcode::Receive)) {
        auto &seen = buffers[action.lane];
        const std::uint32_t buffer = program.operands[action.operands];
        if (std::find(seen.begin(), seen.end(), buffer) == seen.end()) {
          seen.push_back(buffer);
          program.lanes[action.lane].slots +=
              isMicrobatchRing(layout.buffers[buffer].kind) ? layout.buffers[buffer].count : 1;
        }
      }
  }

  void place() {
    for (std::uint32_t index = 0; index < layout.buffers.size(); ++index) {
      Buffer &buffer = layout.buffers[index];
      if (sameBytes[index] != index) {
        buffer.offset = layout.buffers[sameBytes[index]].offset;
        continue;
      }
      std::uint64_t extent = buffer.extent();
      for (std::uint32_t other = index + 1; other < layout.buffers.size(); ++other)
        if (sameBytes[other] == index)
          extent = std::max(extent, layout.buffers[other].extent());
      std::uint64_t &arena = layout.arena[static_cast<std::size_t>(buffer.tier)];
      buffer.offset = aligned(arena);
      arena = buffer.offset + extent;
    }
  }

  Program &program;
  Layout &layout;
  const DataSettings &data;
  const std::vector<std::uint32_t> &sameBytes;
  const std::uint32_t microbatches;
  const std::vector<std::uint32_t> least; // by buffer
};

// Both ends of a channel name the slots of the receiving one.
void tellSenders(Plan &plan) {
  for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank)
    for (Lane &lane : plan.programs[plan.programOf[rank]].lanes) {
      if (lane.kind != LaneKind::Send)
        continue;
      const std::uint32_t receiver = resolvePeer(plan.mesh, rank, lane.peer);
      for (const Lane &other : programOf(plan, receiver)->lanes)
        if (other.kind == LaneKind::Receive && other.flow == lane.flow &&
            resolvePeer(plan.mesh, receiver, other.peer) == rank)
          lane.slots = other.slots;
    }
}

// By lane: whether the rank is the root of its group.
std::vector<bool> rootLanes(const Plan &plan, std::uint32_t rank) {
  std::vector<bool> roots;
  for (const Lane &lane : programOf(plan, rank)->lanes)
    roots.push_back(lane.kind == LaneKind::Group &&
                    memberIndex(plan.mesh, rank, plan.groups[lane.group]) ==
                        plan.groups[lane.group].root);
  return roots;
}

// By case.
std::vector<bool> absentCases(const Plan &plan, const Program &program) {
  std::vector<bool> absent;
  for (const Case &one : program.cases)
    absent.push_back(drainsOnlyIfRun(plan, one));
  return absent;
}

// The trips of each kind of step, of long loops as many as show what all others do: until a ring
// has come round twice.
std::vector<std::vector<std::uint32_t>> tripsOfSteps(const Plan &plan, const Program &program,
                                                     const Layout &layout,
                                                     std::uint32_t microbatches) {
  std::uint32_t shown = kShownTrips;
  for (const Buffer &buffer : layout.buffers)
    if (const std::uint32_t round = buffer.count * microbatchesPerSlot(plan.data, buffer.kind);
        isMicrobatchRing(buffer.kind) && round < microbatches)
      shown = std::max(shown, 2 * round + kShownTrips);
  std::vector<std::vector<std::uint32_t>> kinds = {atMost(program, shown)};
  const auto counts = valuesOf(plan, Decision::Microbatches); // the last one that of a whole step
  for (const std::uint32_t count : counts) {
    std::vector<std::uint32_t> trips;
    for (const Loop &loop : program.loops)
      trips.push_back(std::min(tripsOf(loop, counts.back(), count).value_or(loop.trips), shown));
    if (std::find(kinds.begin(), kinds.end(), trips) == kinds.end())
      kinds.push_back(trips);
  }
  return kinds;
}

} // namespace

bool planMemory(Plan &plan, const MicrobatchCaps &caps, std::uint32_t microbatches,
                const ReceiveSlots &slots) {
  plan.layouts.resize(plan.programs.size());
  std::atomic<bool> fits = true;
  sideBySide(plan.programs.size(), [&](std::size_t index) {
    Program &program = plan.programs[index];
    const auto rank = static_cast<std::uint32_t>(
        std::find(plan.programOf.begin(), plan.programOf.end(), index) - plan.programOf.begin());
    Layout &layout = plan.layouts[index];
    auto [buffers, sameBytes] =
        makeRankBuffers(plan, static_cast<std::uint32_t>(index), rank, caps, microbatches);
    layout = std::move(buffers);
    RankLayout(program, layout, plan.data, sameBytes, microbatches,
               leastSlots(plan, index, layout, slots))
        .make();
    if (!deriveWaits(program, layout, plan.data, sameBytes, rootLanes(plan, rank),
                     tripsOfSteps(plan, program, layout, microbatches), absentCases(plan, program)))
      fits = false;
  });
  if (!fits)
    return false;
  plan.layoutOf = plan.programOf; // what differs in layout differs in what it does
  tellSenders(plan);
  return true;
}

} // namespace vime
