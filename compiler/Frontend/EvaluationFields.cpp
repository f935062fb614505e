// The rows of what judges a model while it is trained.
#include "compiler/Frontend/Bindings.h"
#include "compiler/Frontend/FieldRows.h"
#include "schedules/Limits.h"

namespace vime {

using enum FieldType;

namespace {

constexpr double kMostSteps = 2147483647;

} // namespace

std::vector<FieldSpec> evaluationRows() {
  return {
      {.path = "eval", .phase = "comm", .sentence = "held-out text that judges the model"},
      {.path = "eval.text",
       .type = Path,
       .optional = true,
       .aliases = "valid-data-path",
       .phase = "plan",
       .sentence = "a text file that the model does not learn from; its bytes are the tokens",
       .binding = IN_JOB(evaluation.text)},
      {.path = "eval.every",
       .type = Count,
       .unit = "steps",
       .least = 1,
       .most = kMostSteps,
       .optional = true,
       .aliases = "eval-interval",
       .phase = "comm",
       .sentence = "steps from one evaluation to the next; the last step is followed by one too",
       .binding = IN_JOB(evaluation.every)},
      {.path = "eval.samples",
       .type = Count,
       .unit = "samples",
       .least = 1,
       .most = 1 << 30,
       .optional = true,
       .phase = "comm",
       .sentence = "samples of an evaluation, always the first ones of the text; as many as a "
                   "step has if left out",
       .binding = IN_JOB(evaluation.samples)},
      {.path = "eval.microbatches",
       .type = Count,
       .least = 1,
       .most = kMaxMicrobatches,
       .optional = true,
       .aliases = "eval-iters",
       .phase = "comm",
       .sentence = "microbatches of an evaluation, of all replicas together; follow from its "
                   "samples if left out",
       .binding = IN_JOB(evaluation.microbatches)},
      {.path = "eval.patience",
       .type = Count,
       .least = 1,
       .most = 1 << 20,
       .optional = true,
       .aliases = "early-stopping-patience",
       .phase = "comm",
       .sentence = "evaluations in a row without a better loss that end the run",
       .binding = IN_JOB(evaluation.patience)},
      {.path = "eval.target",
       .type = Number,
       .most = kMostReal,
       .above = true,
       .optional = true,
       .phase = "comm",
       .sentence = "a held-out loss that ends the run",
       .binding = IN_JOB(evaluation.target)},
      {.path = "eval.prompts", .later = "evaluation by generation"},
  };
}

} // namespace vime
