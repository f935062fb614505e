// Uses: which bytes an action touches, operand by operand, and which of them it needs.
//
//   const Access access(plan, rank);
//   for (const Use &use : access.of(action, microbatch, step, tokens)) use.places …
//
// A task has the slot of its microbatch, of what its slices share the one of them all; a message
// with bytes per token moves the start of that slot, one of fixed size and a collective move so
// many bytes from the start of the buffer; what holds something of every microbatch of a pass is
// used slot by slot, everything else as one.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/Plan/OperandRules.h"
#include "runtime/Plan/Plan.h"
#include "tests/Interpreter/Memory.h"

namespace vime::interpreter {

struct Use {
  bool present = false, reads = false, writes = false;
  std::vector<Place> places; // whole slots: nobody else may touch them meanwhile
  std::uint64_t needed = 0;  // bytes of each that the action looks at
  plan::BufferKind kind = plan::BufferKind::Header;

  Place needs(std::size_t slot = 0) const {
    return {places[slot].tier, places[slot].begin, needed};
  }
};

class Access {
public:
  Access(const plan::Plan &plan, std::uint32_t rank);

  /// `microbatches`: of the pass that the action belongs to; `isEmpty`: its own has no tokens.
  std::vector<Use> of(const plan::Action &action, std::uint32_t microbatch,
                      std::uint32_t microbatches, bool isEmpty) const;

private:
  Use useOf(const plan::Action &action, std::size_t operand, std::uint32_t microbatch,
            bool isRoot) const;
  bool isRoot(const plan::Lane &lane) const;
  std::vector<Place> placesOf(const plan::Action &action, const plan::Signature &signature,
                              std::size_t operand, std::uint32_t microbatch,
                              std::uint32_t microbatches, bool isEmpty) const;

  const plan::Plan &plan;
  std::uint32_t rank;
  const plan::Program &program;
  const plan::Layout &layout;
  const plan::OperandRules rules;
};

} // namespace vime::interpreter
