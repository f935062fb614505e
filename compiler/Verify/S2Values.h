// S2Values: what lies in a slot, as far as dependences care: the output of which action, stage,
// microbatch and step; and what each operand needs to find there.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/Verify/Accesses.h"

namespace vime::verify {

/// An operand that some opcode writes.
using Product = std::uint16_t;
constexpr Product productOf(std::uint8_t opcodeIndex, std::uint8_t operand) {
  return static_cast<Product>(opcodeIndex * 16 + operand);
}
constexpr std::uint8_t opcodeOf(Product product) { return static_cast<std::uint8_t>(product / 16); }
constexpr std::uint8_t operandOf(Product product) {
  return static_cast<std::uint8_t>(product % 16);
}
constexpr Product kNothing = 0xFFFF; // never written
constexpr Product kUntold = 0xFFFE;  // came over a channel or group that another rule refuses
constexpr Product kTorn = 0xFFFD;    // written in part by a message
constexpr Product kMessage =
    0xFFFC; // what the message dispatched at `entry` carried in its slot `microbatch`
constexpr bool isLabel(Product product) { return product < kMessage; }

struct Value {
  Product product = kNothing;
  std::uint16_t stage = 0; // of the plan
  std::uint32_t microbatch = 0;
  std::uint32_t instant =
      0; // of the step that made it: twice its segment, one more in later iterations
  std::uint32_t entry = 0; // that made it
  bool revoked = false;    // made in front of a bad verdict (Revoked.h)
};

/// First, Last: of the model.
enum class OfStage : std::uint8_t { Any, Same, Before, Behind, First, Last };
/// Before, Behind: the slice there, of the same samples; EndSlice: their last one.
enum class OfMicrobatch : std::uint8_t { Any, Same, Slot, Before, Behind, EndSlice };
/// Weights: made by an earlier step, and by the one before where there is one: what is copied from
/// elsewhere could also be too old. Sum: whatever is added to, or nothing; which
/// one, S4 judges. Latest: of this step; behind the steps anything, outside of
/// loops of any step. Settled: of the step before in front of this one's early optimizer (in the
/// first step nothing), behind it, and without one, of this step.
enum class OfStep : std::uint8_t { Any, This, Weights, Sum, Latest, Settled };

/// What an operand must hold when it is read. Stage and microbatch count only if the writer has
/// them.
struct Need {
  using Products = std::array<Product, 8>;
  static constexpr Products kNone{kNothing, kNothing, kNothing, kNothing,
                                  kNothing, kNothing, kNothing, kNothing};
  Products products = kNone;
  Products onFirst = kNone; // on the first stage instead
  Products onLast = kNone;  // on the last stage instead; of a single stage both apply
  OfStage stage = OfStage::Any;
  OfMicrobatch microbatch = OfMicrobatch::Any;
  OfStep step = OfStep::Any;
  bool operator==(const Need &) const = default;
};

/// The needs of all operands, each different one once.
struct NeedTable {
  static constexpr std::uint8_t kFree = 0xFF; // not looked at
  std::vector<Need> needs;
  std::array<std::array<std::uint8_t, kMaxOperands>, kOpcodes> of; // index in `needs`
};
const NeedTable &needTable();

/// `output of forward`.
std::string nameOf(Product product);

} // namespace vime::verify
