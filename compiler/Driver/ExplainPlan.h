// vimec explain plan.bin: why a step takes as long as it does, and what would make it shorter.
#pragma once

#include "compiler/Driver/Commands.h"

namespace vime {

int explainPlan(const std::string &path, const ExplainArguments &arguments,
                const OutputOptions &output);

} // namespace vime
