// DecisionUses: where a program asks for a decision: its guards, its cases, the trips of its loops
// and their ends.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime::verify {

struct DecisionUse {
  enum class Kind : std::uint8_t { Guard, Case, Until, Trips };
  Kind kind = Kind::Guard;
  std::uint8_t condition = 0;         // entry of the table, counted from 1; trips have none
  std::uint32_t action = 0;           // the guarded one; else the first one behind the question
  std::uint32_t from = 0;             // begin of the body that must have decided before: actions
  const plan::Case *within = nullptr; // the case around a guarded action or a loop
};

/// In dispatch order; what loops ask behind everything else.
std::vector<DecisionUse> decisionUsesOf(const plan::Program &program);

/// The case around an action, or null.
const plan::Case *caseAround(const plan::Program &program, std::uint32_t action);

} // namespace vime::verify
