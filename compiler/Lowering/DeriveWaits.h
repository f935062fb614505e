// Waits from buffer uses: read after write, write after read, write after write, wherever the two
// uses lie on different lanes. What a lane already knows is not waited for again.
#pragma once

#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime {

/// Sets the waits of every action and the flag of those that may be waited for. In loops over
/// microbatches an action's waits are those that hold in all iterations. `isRoot`: by lane, whether
/// the rank is the root of its group. `trips`: of each kind of step those of each loop of the table
/// (runtime/Plan/Loops.h), the waits hold in all of them. `sameBytes`: of each buffer the first one
/// in its place (RankBuffers.h). A `join` right in front of an action takes the waits that it has
/// no room for. False if an action needs more waits than it has room for, or a slot has more
/// readers than are kept: no order leads to either today, since an action meets at most its two
/// neighbours, the coordinator's groups and its own rank's lanes.
///
/// `mayBeAbsent`: by case, whether a step without it does not drain there either; then the waits
/// hold with all such cases and with none.
bool deriveWaits(plan::Program &program, const plan::Layout &layout, const plan::DataSettings &data,
                 const std::vector<std::uint32_t> &sameBytes, const std::vector<bool> &isRoot,
                 const std::vector<std::vector<std::uint32_t>> &trips,
                 const std::vector<bool> &mayBeAbsent = {});

} // namespace vime
