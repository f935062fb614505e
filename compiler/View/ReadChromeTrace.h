// The timeline that a trace was written of (ChromeTrace.h), so that traces are drawn and compared
// where their plan is not at hand.
#pragma once

#include <string>

#include "compiler/View/Timeline.h"
#include "runtime/Base/Status.h"

namespace vime {

/// `File` if it cannot be read, `InvalidInput` if it is no trace of ours, or not a whole one.
StatusOr<Timeline> readChromeTrace(const std::string &path);

} // namespace vime
