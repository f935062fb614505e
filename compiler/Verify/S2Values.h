// S2Values: what lies in a slot, as far as dependences care: the output of which action, stage, microbatch and step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Verify/Accesses.h"

namespace vime::verify {

/// An operand that some opcode writes, by number: opcode index * 10 + operand.
using Product = std::uint8_t;
constexpr Product kNothing = 0xFF;  // never written
constexpr Product kUntold = 0xFE;   // came over a channel or group that another rule refuses
constexpr Product kMessage = 0xFD;  // what message `entry` of `ActionTable::dispatched()` carried in its slot `microbatch`
constexpr Product kTorn = 0xFC;     // written in part by a message

struct Value {
  Product product = kNothing;
  std::uint8_t iteration = 0; // of the segment: 0 or 1
  std::uint16_t stage = 0;    // of the plan
  std::uint32_t microbatch = 0;
  std::uint32_t instant = 0; // counts segments and their iterations: the same number, the same step
  std::uint32_t entry = 0;   // that made it
};

constexpr Product productOf(std::uint8_t opcodeIndex, std::uint8_t operand) {
  return static_cast<Product>(opcodeIndex * 10 + operand);
}

enum class OfStage : std::uint8_t { Any, Same, Before, Behind };
enum class OfMicrobatch : std::uint8_t { Any, Same, Slot };
/// Weights: made by an earlier step. Sum: whatever is added to, or nothing; which one, S4 judges.
enum class OfStep : std::uint8_t { Any, This, Weights, Sum };

/// What an operand must hold when it is read.
struct Need {
  std::array<Product, 3> products{kNothing, kNothing, kNothing};
  std::array<Product, 3> onFirst{kNothing, kNothing, kNothing}; // on the first stage
  std::array<Product, 3> onLast{kNothing, kNothing, kNothing};  // on the last stage; the first counts as such
  bool any = false;                                             // whether there is a need at all
  OfStage stage = OfStage::Any;
  OfMicrobatch microbatch = OfMicrobatch::Any;
  OfStep step = OfStep::Any;
};

/// The need of each operand of an opcode, by opcode index.
const std::array<Need, 10> &needsOf(std::uint8_t opcodeIndex);

/// `output of forward`.
std::string nameOf(Product product);

/// One action in one iteration.
struct Instance {
  std::uint32_t entry = 0;
  std::uint32_t iteration = 0; // of its segment
  std::uint32_t instant = 0;   // as in Value
  std::uint32_t position = 0;  // in ActionTable::dispatched()
};

/// The slots of a rank and what lies in them, as its actions run in dispatch order. What comes from other ranks is
/// `kMessage`.
class SlotValues {
public:
  SlotValues(const ActionTable &table, const RankView &rank) : table(table), rank(rank), slots(rank.slotCount) {}

  const Value &operator[](std::uint32_t slot) const { return slots[slot]; }
  void set(std::uint32_t slot, const Value &value) { slots[slot] = value; }
  /// What an access that writes leaves in a slot.
  Value valueAfter(const Instance &now, const SlotAccess &access, std::uint32_t slot) const;

private:
  Value messageAfter(const Instance &now, const SlotAccess &access, std::uint32_t slot) const;

  const ActionTable &table;
  const RankView &rank;
  std::vector<Value> slots;
};

/// What the sends and broadcasts of all ranks find in the slots that they read.
class SentValues {
public:
  explicit SentValues(const ActionTable &table);

  /// Follows messages to what an action made.
  Value resolve(Value value) const;

private:
  void addRank(const RankView &rank);
  void add(const Instance &now, const SlotAccess &access, const SlotValues &slots);

  const ActionTable &table;
  std::vector<Value> values;
  std::array<std::vector<std::uint32_t>, 2> first; // in `values`, for each dispatched message and iteration
};

/// Calls `visit(instance)` in dispatch order, of each loop two iterations.
template <typename Visit> void forEachInstant(const ActionTable &table, const RankView &rank, Visit &&visit) {
  std::array<std::uint32_t, plan::Wait::kMaxLanes> begin{}, next{};
  for (std::size_t lane = 0; lane < rank.program->lanes.size(); ++lane)
    begin[lane] = table.lane(rank, static_cast<std::uint32_t>(lane)).first;
  std::uint32_t instant = 0;
  for (const Segment &segment : rank.segments) {
    for (std::uint32_t iteration = 0; iteration < std::min<std::uint64_t>(segment.trips, 2); ++iteration, ++instant) {
      next = begin;
      for (std::uint32_t entry = segment.first; entry < segment.end; ++entry)
        visit(Instance{entry, iteration, instant, next[table.action(rank, entry).lane]++});
    }
    begin = next;
  }
}

} // namespace vime::verify
