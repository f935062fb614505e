// The rows of `batch` and `data`: what a step takes, and from where.
#include "compiler/Frontend/Bindings.h"
#include "compiler/Frontend/FieldRows.h"

namespace vime {

using enum FieldType;

namespace {

constexpr double kMostBatch = double(std::uint64_t{1} << 52); // 65536 × 65536 × 1048576

} // namespace

std::vector<FieldSpec> batchRows() {
  return {
      {.path = "batch", .phase = "job", .sentence = "what a step takes from the data"},
      {.path = "batch.global",
       .type = Count,
       .unit = "samples",
       .least = 1,
       .most = kMostBatch,
       .derivedFrom = "pipeline.microbatches, pipeline.microbatch, roles.actor.parallel.dp; with "
                      "rounds from batch.prompts, batch.samples_per_prompt",
       .aliases = "global-batch-size",
       .phase = "order",
       .sentence = "samples of one step, of all replicas; packed ones of a text must be stated",
       .binding = IN_JOB(batch.global)},
      {.path = "batch.prompts",
       .type = Count,
       .presence = Presence::Rounds,
       .least = 1,
       .most = 1 << 20,
       .aliases = "rollout-batch-size",
       .phase = "memory",
       .sentence = "prompts whose samples a round trains on",
       .binding = IN_JOB(batch.prompts)},
      {.path = "batch.samples_per_prompt",
       .type = Count,
       .presence = Presence::Rounds,
       .least = 1,
       .most = 65536,
       .aliases = "n-samples-per-prompt",
       .phase = "memory",
       .sentence = "responses to each prompt",
       .binding = IN_JOB(batch.samplesPerPrompt)},
  };
}

std::vector<FieldSpec> dataRows() {
  return {
      {.path = "data", .phase = "job", .sentence = "what the model learns from"},
      {.path = "data.text",
       .type = Path,
       .presence = Presence::Text,
       .aliases = "data-path",
       .phase = "plan",
       .sentence = "a text file; its bytes are the tokens",
       .binding = IN_JOB(data.text)},
      {.path = "data.sequence",
       .type = Count,
       .unit = "tokens",
       .least = 1,
       .most = 1 << 20,
       .derivedFrom = "data.max_prompt, rollout.max_new",
       .aliases = "seq-length",
       .phase = "memory",
       .sentence = "length of one sample, of a line or paragraph at most; with rounds of the "
                   "longest",
       .binding = IN_JOB(data.sequence)},
      {.path = "data.split",
       .type = Word,
       .presence = Presence::Text,
       .fallback = "window",
       .words = {"window", "line", "paragraph"},
       .laterWords = {"document"},
       .phase = "order",
       .sentence = "what of the text is a sample: as many bytes as fit, a line, or the lines "
                   "between two empty ones",
       .binding = IN_JOB(data.split)},
      {.path = "data.tail",
       .type = Word,
       .presence = Presence::Text,
       .fallback = "join",
       .words = {"join", "short", "drop"},
       .phase = "comm",
       .sentence = "what the last samples of an epoch do that fill no step: join the next epoch, "
                   "make a short step, or be dropped",
       .binding = IN_JOB(data.tail)},
      {.path = "data.prompts",
       .type = Path,
       .presence = Presence::Rounds,
       .aliases = "prompt-data",
       .phase = "plan",
       .sentence = "a file with a prompt on each line, as JSON: its text or its tokens, and maybe "
                   "its answer",
       .binding = IN_JOB(data.prompts)},
      {.path = "data.max_prompt",
       .type = Count,
       .presence = Presence::Rounds,
       .unit = "tokens",
       .least = 1,
       .most = 1 << 20,
       .aliases = "rollout-max-prompt-len",
       .phase = "memory",
       .sentence = "longest prompt; a longer one is an error",
       .binding = IN_JOB(data.maxPrompt)},
      {.path = "data.shuffle", .later = "a choice of the order of samples"},
      {.path = "data.tokenizer", .later = "tokenizers other than bytes"},
  };
}

} // namespace vime
