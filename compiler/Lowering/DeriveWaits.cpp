#include "compiler/Lowering/DeriveWaits.h"

#include <algorithm>

#include "compiler/Lowering/RankBuffers.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Slices.h"

namespace vime {

using namespace plan;

namespace {

// Who used a slot last: its writer, and the latest reader on each lane since. Places are 1 + index
// on the lane.
struct SlotUse {
  std::uint32_t written = 0;
  std::uint8_t writerLane = 0;
  std::uint8_t readerLanes = 0;
  struct Reader {
    std::uint32_t place;
    std::uint8_t lane;
  };
  std::array<Reader, 4> readers; // compute, one send lane, one group lane, host or io
  bool overflowed = false;

  void addReader(std::uint8_t lane, std::uint32_t place) {
    for (std::uint8_t index = 0; index < readerLanes; ++index)
      if (readers[index].lane == lane) {
        readers[index].place = place;
        return;
      }
    if (readerLanes < readers.size())
      readers[readerLanes++] = {place, lane};
    else
      overflowed = true;
  }
};

// One operand of an action, ready for the walk.
struct Use {
  std::uint32_t firstSlot;
  std::uint32_t slots;
  std::uint32_t perSlot; // microbatches in a row that use one
  bool reads, writes;
};

bool reads(Access access, bool isRoot) {
  return access == Access::Read || access == Access::ReadWrite ||
         (access == Access::RootReadOthersWrite && isRoot);
}
bool writes(Access access, bool isRoot) {
  switch (access) {
  case Access::Write:
  case Access::ReadWrite:
    return true;
  case Access::RootReadOthersWrite:
    return !isRoot;
  case Access::RootWrite:
    return isRoot;
  default:
    return false;
  }
}

class WaitWalk {
public:
  WaitWalk(Program &program, const Layout &layout, const DataSettings &data,
           const std::vector<std::uint32_t> &sameBytes, const std::vector<bool> &isRoot)
      : program(program), lanes(program.lanes.size()), dispatched(lanes, 0),
        covered(lanes * lanes, 0), need(lanes, 0) {
    for (std::uint32_t index = 0; index < layout.buffers.size(); ++index) {
      const Buffer &buffer = layout.buffers[index];
      const bool isFirst = sameBytes[index] == index; // what shares its bytes is used in its place
      firstSlot.push_back(isFirst ? static_cast<std::uint32_t>(slotCount)
                                  : firstSlot[sameBytes[index]]);
      slotsOf.push_back(isMicrobatchRing(buffer.kind) ? buffer.count : 1);
      perSlotOf.push_back(microbatchesPerSlot(data, buffer.kind));
      slotCount += isFirst ? slotsOf.back() : 0;
    }
    uses.resize(slotCount);
    describeOperands(isRoot);
  }

  /// `absent`: cases, by their place in the table, that are left out.
  bool run(const std::vector<std::uint32_t> &trips, const std::vector<bool> &absent = {}) {
    const std::vector<Stretch> stretches = stretchesOf(program, trips);
    for (auto first = stretches.begin(); first != stretches.end();) {
      const Loop *steps = first->steps;
      const auto end = std::find_if(first, stretches.end(), [steps](const Stretch &stretch) {
        return stretch.steps != steps;
      });
      // The second round sees what the first one left: waits that cross the back edge of the loop
      // over steps. Both must hold.
      for (int round = 0; round < (steps ? 2 : 1); ++round)
        for (auto stretch = first; stretch != end; ++stretch)
          if (!isAbsent(*stretch, absent) && !visit(*stretch))
            return false;
      first = end;
    }
    return true;
  }

private:
  bool isAbsent(const Stretch &stretch, const std::vector<bool> &absent) const {
    return stretch.within && !absent.empty() &&
           absent[static_cast<std::size_t>(stretch.within - program.cases.data())];
  }

  // Operand lists are shared by many actions: one description for each place in the pool.
  void describeOperands(const std::vector<bool> &isRoot) {
    poolUses.resize(program.operands.size());
    std::vector<char> known(program.operands.size(), 0);
    for (const Action &action : program.actions) {
      if (action.operandCount == 0 || known[action.operands])
        continue;
      const Signature &signature = *findSignature(action.opcode);
      for (std::uint32_t place = 0; place < action.operandCount; ++place) {
        known[action.operands + place] = 1;
        const std::uint32_t buffer = program.operands[action.operands + place];
        const Access access = signature.operands[place].access;
        poolUses[action.operands + place] =
            buffer == kNoBuffer
                ? Use{0, 0, 1, false, false}
                : Use{firstSlot[buffer], slotsOf[buffer], perSlotOf[buffer],
                      reads(access, isRoot[action.lane]), writes(access, isRoot[action.lane])};
      }
    }
  }

  /// Every iteration of a loop over microbatches: a ring comes round only after several of them. At
  /// the edges of cases all lanes are drained: nothing in front of them needs to be waited for.
  bool visit(const Stretch &stretch) {
    if (stretch.within != within)
      std::fill(uses.begin(), uses.end(), SlotUse());
    within = stretch.within;
    for (iteration = stretch.first; iteration < stretch.first + stretch.trips; ++iteration)
      for (std::uint32_t index = stretch.begin; index < stretch.end; ++index)
        if (!visit(program.actions[index]))
          return false;
    return true;
  }

  bool visit(Action &action) {
    touched.clear();
    const std::uint8_t lane = action.lane;
    const Use *use = poolUses.data() + action.operands;
    for (std::uint32_t place = 0; place < action.operandCount; ++place)
      if (use[place].reads || use[place].writes)
        collect(slotOf(use[place], action), use[place].writes, lane);
    const std::uint32_t here = ++dispatched[lane];
    for (std::uint32_t place = 0; place < action.operandCount; ++place)
      if (use[place].reads || use[place].writes)
        record(slotOf(use[place], action), use[place].writes, lane, here);
    return store(action, lane);
  }

  SlotUse &slotOf(const Use &use, const Action &action) {
    const std::uint32_t microbatch = action.microbatch + action.step * iteration;
    return uses[use.firstSlot + (use.slots == 1 ? 0 : microbatch / use.perSlot % use.slots)];
  }

  void collect(const SlotUse &slot, bool writing, std::uint8_t lane) {
    if (slot.written != 0)
      require(slot.writerLane, slot.written, lane);
    if (writing)
      for (std::uint8_t index = 0; index < slot.readerLanes; ++index)
        require(slot.readers[index].lane, slot.readers[index].place, lane);
  }

  void require(std::uint8_t on, std::uint32_t place, std::uint8_t lane) {
    if (on == lane || place <= covered[lane * lanes + on])
      return;
    if (need[on] == 0)
      touched.push_back(on);
    need[on] = std::max(need[on], place);
  }

  void record(SlotUse &slot, bool writing, std::uint8_t lane, std::uint32_t place) {
    if (!writing) {
      slot.addReader(lane, place);
      tooManyReaders |= slot.overflowed;
      return;
    }
    slot.written = place;
    slot.writerLane = lane;
    slot.readerLanes = 0;
  }

  // Adds the collected needs to the action's waits; an earlier round's wait on the same lane keeps
  // the later place.
  bool store(Action &action, std::uint8_t lane) {
    bool fits = true;
    for (const std::uint8_t on : touched) {
      // A wait reaches 1023 actions back; waiting for a later one on the same lane is stronger and
      // still backward.
      const std::uint32_t back = dispatched[on] - need[on] + 1;
      const int distance = static_cast<int>(std::min<std::uint32_t>(back, Wait::kMaxDistance));
      covered[lane * lanes + on] = dispatched[on] - static_cast<std::uint32_t>(distance) + 1;
      need[on] = 0;
      fits = (keep(action, on, distance) || keepInJoin(action, on, distance)) && fits;
    }
    return fits && !tooManyReaders;
  }

  static bool keep(Action &action, std::uint8_t on, int distance) {
    auto same = std::find_if(action.waits.begin(), action.waits.end(),
                             [&](Wait wait) { return wait.empty() || wait.lane() == on; });
    if (same == action.waits.end())
      return false;
    if (same->empty() || same->distance() > distance)
      *same = Wait::on(on, distance);
    return true;
  }

  // A join right in front of it on its lane waits for what it has no room for: nothing else is
  // dispatched between them.
  bool keepInJoin(Action &action, std::uint8_t on, int distance) {
    if (&action == program.actions.data())
      return false;
    Action &join = *(&action - 1);
    return join.opcode == code(Opcode::Join) && join.lane == action.lane &&
           keep(join, on, distance);
  }

  Program &program;
  std::uint32_t iteration = 0;  // by which microbatches advance
  const Case *within = nullptr; // the case around it
  const std::size_t lanes;
  std::size_t slotCount = 0;
  std::vector<std::uint32_t> firstSlot, slotsOf, perSlotOf; // by buffer
  std::vector<SlotUse> uses;                                // by slot
  std::vector<Use> poolUses;                                // by place in the operand pool
  std::vector<std::uint32_t> dispatched;                    // actions so far, by lane
  std::vector<std::uint32_t> covered; // [lane][on]: place up to which the lane has waited
  std::vector<std::uint32_t> need;    // by lane; 0: none
  std::vector<std::uint8_t> touched;
  bool tooManyReaders = false;
};

void markSignalled(Program &program) {
  // A wait's target moves with the loop's rounds; whoever is on a lane that somebody waits for is
  // signalled.
  std::vector<char> awaited(program.lanes.size(), 0);
  for (const Action &action : program.actions)
    for (const Wait wait : action.waits)
      if (!wait.empty())
        awaited[wait.lane()] = 1;
  for (Action &action : program.actions)
    if (awaited[action.lane])
      action.flags |= kSignalled;
}

} // namespace

bool deriveWaits(Program &program, const Layout &layout, const DataSettings &data,
                 const std::vector<std::uint32_t> &sameBytes, const std::vector<bool> &isRoot,
                 const std::vector<std::vector<std::uint32_t>> &trips,
                 const std::vector<bool> &mayBeAbsent) {
  const bool anyMayBe =
      std::find(mayBeAbsent.begin(), mayBeAbsent.end(), true) != mayBeAbsent.end();
  for (Action &action : program.actions)
    action.waits = {};
  for (const std::vector<std::uint32_t> &step : trips)
    if (!WaitWalk(program, layout, data, sameBytes, isRoot).run(step) ||
        (anyMayBe && !WaitWalk(program, layout, data, sameBytes, isRoot).run(step, mayBeAbsent)))
      return false;
  markSignalled(program);
  return true;
}

} // namespace vime
