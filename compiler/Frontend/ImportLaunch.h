// ImportLaunch: a launch line of vime or slime as a job.
//
//   ImportedJob job = importLaunch(readLaunch(text), "grpo");
//   job.text    // version: 1 …
//   job.notes   // `--colocate` is left out: roles on the same ranks; …
//
// Flags that a field has as another name (FieldSpec::aliases) become that field; what several flags
// say together (ranks, microbatches, models) is worked out; every other flag is named in a note,
// unless it says what holds in any job. Whether the job is legal is for readJob.
#pragma once

#include <string>
#include <vector>

#include "compiler/Frontend/LaunchLine.h"

namespace vime {

struct ImportedJob {
  std::string text;
  std::vector<std::string> notes;
};

ImportedJob importLaunch(const LaunchLine &launch, const std::string &name);

} // namespace vime
