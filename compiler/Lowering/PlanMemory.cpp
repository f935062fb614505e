#include "compiler/Lowering/PlanMemory.h"

#include <algorithm>
#include <atomic>

#include "compiler/Lowering/DeriveWaits.h"
#include "compiler/Lowering/RankBuffers.h"
#include "runtime/Base/SideBySide.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime {

using namespace plan;

namespace {

// Sizes the rings of one rank and places its buffers.
class RankLayout {
public:
  RankLayout(Program &program, Layout &layout, std::uint32_t microbatches)
      : program(program), layout(layout), microbatches(microbatches) {}

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
    std::vector<std::uint32_t> slots(rings.size(), 1);
    for (const Piece &piece : piecesBetweenCases())
      countSlots(piece, ringOf, slots);
    for (std::size_t ring = 0; ring < rings.size(); ++ring) {
      Buffer &buffer = layout.buffers[rings[ring]];
      const bool travels =
          buffer.kind != BufferKind::Stash && buffer.kind != BufferKind::WeightStash;
      buffer.count = std::min(microbatches, travels ? std::max(slots[ring], 2u) : slots[ring]);
    }
  }

  struct Piece {
    std::uint32_t begin, end;
  };

  // All lanes are drained at the edges of cases, and microbatches count from 0 again behind them.
  std::vector<Piece> piecesBetweenCases() const {
    std::vector<Piece> pieces;
    std::uint32_t begin = 0;
    for (const Case &one : program.cases) {
      pieces.push_back({begin, one.begin});
      pieces.push_back({one.begin, one.end});
      begin = one.end;
    }
    pieces.push_back({begin, static_cast<std::uint32_t>(program.actions.size())});
    return pieces;
  }

  // Raises the slots of each ring to what the actions of the piece need.
  void countSlots(const Piece &piece, const std::vector<std::uint32_t> &ringOf,
                  std::vector<std::uint32_t> &slots) const {
    std::vector<std::uint32_t> lastUse(slots.size() * microbatches, 0);
    auto forEachUse = [&](auto &&visit) {
      for (std::uint32_t index = piece.begin; index < piece.end; ++index) {
        const Action &action = program.actions[index];
        for (std::uint32_t place = 0; place < action.operandCount; ++place) {
          const std::uint32_t buffer = program.operands[action.operands + place];
          if (buffer != kNoBuffer && ringOf[buffer] != kNoBuffer)
            visit(ringOf[buffer], action.microbatch, index);
        }
      }
    };
    forEachUse([&](std::uint32_t ring, std::uint32_t microbatch, std::uint32_t index) {
      lastUse[ring * microbatches + microbatch] = index;
    });
    std::vector<std::uint32_t> released(slots.size(), 0);
    forEachUse([&](std::uint32_t ring, std::uint32_t microbatch, std::uint32_t index) {
      std::uint32_t &first = released[ring];
      while (first < microbatch && lastUse[ring * microbatches + first] < index)
        ++first;
      if (microbatch >= first)
        slots[ring] = std::max(slots[ring], microbatch - first + 1);
    });
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
    for (Buffer &buffer : layout.buffers) {
      std::uint64_t &arena = layout.arena[static_cast<std::size_t>(buffer.tier)];
      buffer.offset = aligned(arena);
      arena = buffer.offset + buffer.extent();
    }
  }

  Program &program;
  Layout &layout;
  const std::uint32_t microbatches;
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
                    memberIndex(plan.mesh, rank, plan.groups[lane.group].axes) ==
                        plan.groups[lane.group].root);
  return roots;
}

} // namespace

bool planMemory(Plan &plan, const MicrobatchCaps &caps, std::uint32_t microbatches) {
  plan.layouts.resize(plan.programs.size());
  std::atomic<bool> fits = true;
  sideBySide(plan.programs.size(), [&](std::size_t index) {
    Program &program = plan.programs[index];
    const auto rank = static_cast<std::uint32_t>(
        std::find(plan.programOf.begin(), plan.programOf.end(), index) - plan.programOf.begin());
    Layout &layout = plan.layouts[index];
    layout = makeRankBuffers(plan, static_cast<std::uint32_t>(index), rank, caps, microbatches);
    RankLayout(program, layout, microbatches).make();
    if (!deriveWaits(program, layout, rootLanes(plan, rank)))
      fits = false;
  });
  if (!fits)
    return false;
  plan.layoutOf = plan.programOf; // what differs in layout differs in what it does
  tellSenders(plan);
  return true;
}

} // namespace vime
