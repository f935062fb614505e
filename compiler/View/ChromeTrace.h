// ChromeTrace: a timeline in the JSON that Perfetto and chrome://tracing open: a process for each
// rank, a thread for each of its lanes, arrows from sends to receives, counters of bytes alive.
#pragma once

#include <string>

#include "compiler/View/Timeline.h"

namespace vime {

std::string chromeTrace(const Timeline &timeline);

} // namespace vime
