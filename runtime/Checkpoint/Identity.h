// Identity: what two runs must have in common, so that one can go on where the other was saved.
//
// Facts by name, as words: what shapes the parameters, what decides the samples of a step and the
// values that follow from them. Ranks, order of tasks, transport, kernels, steps and intervals are
// not among them: they may change.
#pragma once

#include <map>
#include <string>

#include "runtime/Plan/Plan.h"

namespace vime {

using Identity = std::map<std::string, std::string>;

Identity identityOf(const plan::Plan &plan);

/// The first difference, as a sentence's end: "`run.seed` is 7 there and 8 in the plan"; empty: none.
std::string findDifference(const Identity &there, const Identity &here);

} // namespace vime
