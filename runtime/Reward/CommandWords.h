// CommandWords: a command as the words that a program is started with. No shell takes part.
//
//   splitCommand("python3 'my score.py' --level \"a b\"")   // python3, my score.py, --level, a b
//
// As a shell splits words: by space; what is between quotes is one word; a backslash takes the
// character behind it as it is, except between single quotes. Nothing is expanded, and characters
// that mean more to a shell are refused unless they are quoted, so that nobody expects a pipe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/Base/Status.h"

namespace vime {

/// At least one word. InvalidInput: none, a quote that does not end, what a shell would act upon.
StatusOr<std::vector<std::string>> splitCommand(std::string_view command);

} // namespace vime
