// Action: one thing a rank does, as 32 little-endian bytes; the executor's instruction and the
// verifiers' row.
//
// A program is an array of these in dispatch order. Fields are explained in
// compiler/docs/plan-format.md.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace vime::plan {

/// A wait: the `distance`-th latest action dispatched on `lane` has finished (1 = the latest). A
/// zero word waits for nothing. Relative, so that it holds in every iteration of a loop; skipped
/// actions advance their lane like any other.
struct Wait {
  static constexpr int kLaneBits = 6;
  static constexpr int kDistanceBits = 10;
  static constexpr int kMaxLanes = 1 << kLaneBits;
  static constexpr int kMaxDistance = (1 << kDistanceBits) - 1;

  std::uint16_t word = 0;

  static constexpr Wait on(int lane, int distance) {
    return {static_cast<std::uint16_t>((distance << kLaneBits) | lane)};
  }
  constexpr bool empty() const { return word == 0; }
  constexpr int lane() const { return word & (kMaxLanes - 1); }
  constexpr int distance() const { return word >> kLaneBits; }
  bool operator==(const Wait &) const = default;
};

enum ActionFlag : std::uint8_t {
  kSignalled = 1,    // somebody waits for it
  kGroupBegin = 2,   // first transfer of a fused group
  kGroupEnd = 4,     // last transfer of a fused group
  kHostBlocking = 8, // the dispatcher itself must wait for it
  kSkipIfEmpty = 16, // skipped when the microbatch has no tokens
  kLastUse = 32      // last use of the input slot
};

/// Action::immediate of `backward` and `backward_weight`: the first weight gradient of a stage in a
/// step, it overwrites the gradients instead of adding to them.
constexpr std::uint16_t kOverwriteGradients = 1;
/// Action::immediate of `publish`: the version behind the one of the last round.
constexpr std::uint16_t kBehindLastRound = 1;

struct Action {
  std::uint16_t opcode = 0; // plan::Opcode
  std::uint8_t lane = 0;    // index in the program's lane table; fixes channel or group
  std::uint8_t flags = 0;   // ActionFlag
  std::int32_t time = 0;    // base of the clock in its segment: start + iteration * period + base
  std::array<Wait, 4> waits{};
  std::uint16_t stage = 0; // index in the program's stage table
  std::uint8_t guard = 0;  // 0: always; else only where this entry of the condition table holds
  std::uint8_t step = 0;   // microbatch advance per iteration of the innermost loop
  std::uint32_t microbatch = 0; // base index
  std::uint32_t operands = 0;   // first entry in the program's operand pool
  std::uint16_t operandCount = 0;
  std::uint16_t immediate = 0;
  bool operator==(const Action &) const = default;
};
static_assert(sizeof(Action) == 32 && std::is_trivially_copyable_v<Action>);

} // namespace vime::plan
