// SideBySide: tasks that do not depend on each other, on all cores.
//
//   sideBySide(plan.programs.size(), [&](std::size_t index) { layout(plan.programs[index]); });
//
// Where the system gives no more threads, fewer do it, the calling one at least.
#pragma once

#include <cstddef>
#include <functional>

namespace vime {

/// As many as the machine has cores.
std::size_t availableThreads();

/// Calls `task` once for each index below `count`, lower ones first, and returns when all calls
/// have. The first exception that one of them throws goes on from here; tasks not begun by then are
/// left out. `threads`: at most so many; those of a small job are not worth their start.
void sideBySide(std::size_t count, const std::function<void(std::size_t index)> &task,
                std::size_t threads = availableThreads());

} // namespace vime
