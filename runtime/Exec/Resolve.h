// Resolve: from the actions of a plan to instructions. After it the hot loop looks nothing up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Exec/Instruction.h"
#include "runtime/Exec/RoutineTable.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// A ring buffer operand of an instruction whose microbatch moves.
struct MovingOperand {
  std::uint32_t address = 0;            // index into `addresses`
  std::uint32_t count = 1, perSlot = 1; // slots, and microbatches in a row that use one
  std::uint64_t stride = 0;
  std::byte *first = nullptr;
};

struct ResolvedProgram {
  std::vector<Instruction> instructions; // by action
  std::vector<std::byte *> addresses;    // what their `operands` point into
  std::vector<MovingOperand> moving;     // ascending by address
};

/// Where each tier's arena lies.
using ArenaBases = std::array<std::byte *, 2>;

/// The plan has passed checkRankPlan. `Unacceptable` for an opcode without routine, or a feature
/// that this version does not run.
StatusOr<ResolvedProgram> resolve(const plan::Program &program, const plan::Layout &layout,
                                  const plan::DataSettings &data, const ArenaBases &arenas,
                                  const RoutineTable &routines);

/// Whether the dispatcher runs the actions of a lane itself, so that they are finished when it goes
/// on.
bool runsInline(plan::LaneKind kind);

} // namespace vime
