// PromptLine: one line of a file of prompts (PromptFile.h).
#pragma once

#include <string_view>

#include "runtime/Data/PromptFile.h"

namespace vime {

/// InvalidInput: what is wrong with it; the caller says where it stands.
StatusOr<Prompt> parsePromptLine(std::string_view line, const PromptLimits &limits);

} // namespace vime
