// Memory: where the bytes of each rank go, and at which action most of them are needed.
#pragma once

#include <string>

#include "runtime/Plan/Plan.h"

namespace vime {

/// A table for each rank and tier, largest part first; of several replicas the leading one and the
/// next; ranks that share program and layout have one. The plan has been read, so its indices are
/// in range.
std::string planMemory(const plan::Plan &plan);

/// The same as one JSON object.
std::string memoryJson(const plan::Plan &plan);

} // namespace vime
