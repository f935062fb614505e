// OperandKinds: which buffers an action is given.
//
//   operandKinds(Opcode::Clip)     // {AllSquares, Scalars}
#pragma once

#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime {

/// In the order of the opcode's signature (runtime/Plan/Opcode.cpp). Empty for transfers,
/// broadcasts and gathers, which take what their lane carries.
std::vector<plan::BufferKind> operandKinds(plan::Opcode opcode);

} // namespace vime
