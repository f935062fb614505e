// Instruction: an action as the executor runs it, with its routine, its addresses and its waits
// looked up once at load.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Action.h"

namespace vime {

struct RankState;
struct Instruction;

/// What an opcode does. Runs on the rank's dispatcher, or on the worker of a host or io lane.
using Routine = Status (*)(RankState &state, const Instruction &instruction);

struct Instruction {
  Routine routine = nullptr;
  /// Addresses of the operands in the order of the signature, those of ring buffers at this
  /// microbatch's slot; null where absent.
  std::byte *const *operands = nullptr;
  /// The waits that may block, first ones first. Those for a lane that the dispatcher runs itself
  /// are left out: it returned from that action before it came here.
  std::array<plan::Wait, 4> waits{};
  std::uint32_t action = 0; // index in the program, for messages
  std::uint32_t microbatch = 0;
  std::uint32_t end = 0; // of a transfer or collective: where to post (Transport.h)
  std::uint16_t stage = 0;
  std::uint16_t immediate = 0;
  std::uint8_t lane = 0;
  std::uint8_t flags = 0; // plan::ActionFlag
  std::uint8_t guard = 0; // plan::Action::guard
  bool timed = false;     // counts as busy compute time
  bool moves = false;     // its microbatch advances with the loop: addresses change
};

} // namespace vime
