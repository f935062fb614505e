// The rows of `checkpoint`: where a run saves itself.
#include "compiler/Frontend/Bindings.h"
#include "compiler/Frontend/FieldRows.h"

namespace vime {

using enum FieldType;

namespace {

constexpr double kMostSteps = 2147483647;

} // namespace

std::vector<FieldSpec> checkpointRows() {
  return {
      {.path = "checkpoint",
       .phase = "comm",
       .sentence = "where the run saves itself, so that `vime-exec --resume` can go on from there"},
      {.path = "checkpoint.dir",
       .type = Path,
       .optional = true,
       .aliases = "save output-dir",
       .phase = "plan",
       .sentence = "the directory of the checkpoints",
       .binding = IN_JOB(checkpoint.directory)},
      {.path = "checkpoint.every",
       .type = Count,
       .unit = "steps",
       .least = 1,
       .most = kMostSteps,
       .optional = true,
       .aliases = "save-interval save-steps",
       .phase = "plan",
       .sentence = "steps from one checkpoint to the next; the last step is saved too",
       .binding = IN_JOB(checkpoint.every)},
      {.path = "checkpoint.keep",
       .type = Count,
       .least = 1,
       .most = 1000000,
       .optional = true,
       .aliases = "save-total-limit keep-last",
       .phase = "plan",
       .sentence = "how many stay, the newest ones; all, if it is not stated",
       .binding = IN_JOB(checkpoint.keep)},
  };
}

} // namespace vime
