// PlanEdits: a plan file out of a few bytes: a plan that is right, and what is changed in it.
//
// Numbers, words and lines of its text form are changed, so that what comes out is a plan again, if
// a wrong one; then bytes of its parts. Hashes are made last: fuzzing gets behind them.
#pragma once

#include <string>
#include <string_view>

namespace vime::fuzz {

/// The file. Input: the number of a base plan, then edits. After 0xFF come the bytes of a file.
std::string editedPlanFile(std::string_view input);

} // namespace vime::fuzz
