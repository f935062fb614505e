// StandardStreams: standard output and error that may be closed, full or a broken pipe. What cannot
// be shown never ends a run; a result that cannot be written is a failure.
#pragma once

#include <cstdio>
#include <string_view>

#include "runtime/Base/Status.h"

namespace vime {

/// First of all in a process: a closed standard stream must not become the number of a file that is
/// opened later, and a write to a broken pipe or past a limit is to fail, not to kill.
void prepareStandardStreams();

/// All of the text on standard output, or why not.
Status writeResult(std::string_view text);

/// On a terminal or in a log: nothing depends on it, so failures are ignored.
void show(std::FILE *stream, std::string_view text);

} // namespace vime
