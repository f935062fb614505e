// What the judges say of a plan, as a user reads it.
#pragma once

#include <string>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime {

/// The rendered findings; empty for a plan that keeps every rule. Fails the test on a code that has
/// no meaning.
std::string judged(const plan::Plan &plan);

/// `S0201 M0301`: the codes of the findings, each once, in order of appearance.
std::string codesOf(const plan::Plan &plan);

} // namespace vime
