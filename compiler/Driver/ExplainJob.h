// vimec explain job.yaml: every value of a job and where it comes from.
#pragma once

#include "compiler/Driver/Commands.h"

namespace vime {

int explainJob(const JobArguments &arguments, const OutputOptions &output);

} // namespace vime
