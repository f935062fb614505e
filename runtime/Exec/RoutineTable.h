// The table of routines by opcode: how a plan's words become deeds. One line per opcode in
// RoutineTable.cpp.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "runtime/Exec/Instruction.h"
#include "runtime/Plan/Opcode.h"

namespace vime {

/// Looked up once per action at load, never while running.
using RoutineTable = std::unordered_map<std::uint16_t, Routine>;

/// The routines that train a model.
RoutineTable trainingRoutines();

/// Transfers, collectives, copy, join and measure: what needs no model.
RoutineTable plainRoutines();

} // namespace vime
