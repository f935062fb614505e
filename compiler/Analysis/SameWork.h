// SameWork: what the actions of another plan of the same model take, if those of one plan take what
// they take: so that two plans are compared at equal work.
//
//   const Durations its = sameWork(plan, durations, other);
//
// A stage takes what its layers take. Of embedding and head that is known apart where a stage with
// neither of them says what a layer takes; else they count to the layers that they stand beside. A
// task of half as many tokens takes half as long, and so does what passes between stages by unit
// costs.
#pragma once

#include "compiler/Analysis/Durations.h"

namespace vime {

/// Where one of them has whole backwards and nobody knows what the halves take, each takes half.
Durations sameWork(const plan::Plan &plan, const Durations &durations, const plan::Plan &other);

/// What each layer takes in a forward and its backward together; embedding and head, as far as they
/// are known apart, in the first and the last one.
std::vector<double> layerTimes(const plan::Plan &plan, const Durations &durations);

} // namespace vime
