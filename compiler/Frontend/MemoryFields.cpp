// The rows of `memory`: what is kept, and what is computed again instead.
#include "compiler/Frontend/Bindings.h"
#include "compiler/Frontend/FieldRows.h"

namespace vime {

std::vector<FieldSpec> memoryRows() {
  constexpr std::string_view kTiers = "moving state to host memory and disk";
  return {
      {.path = "memory", .phase = "memory", .sentence = "what is kept, and what is computed again"},
      {.path = "memory.recompute",
       .type = FieldType::Word,
       .fallback = "none",
       .words = {"none", "layer"},
       .laterWords = {"full", "selective", "attention"},
       .aliases = "recompute-granularity gradient-checkpointing",
       .phase = "memory",
       .sentence =
           "layer: a forward keeps the input of each layer alone, and its backward runs the "
           "layer once more",
       .binding = IN_JOB(memory.recompute)},
      {.path = "memory.unsharded",
       .type = FieldType::Count,
       .least = 1,
       .most = 1024,
       .optional = true,
       .phase = "comm",
       .sentence = "where replicas share the model: stages of a rank whose weights are whole at a "
                   "time; if it is not stated all, or as many as `pipeline.memory_limit` allows",
       .binding = IN_JOB(memory.unsharded)},
      {.path = "memory.unshard_rule",
       .type = FieldType::Word,
       .fallback = "fewest",
       .words = {"fewest", "torch-compatible"},
       .phase = "comm",
       .sentence = "fewest: as seldom as possible a stage is unsharded again; torch-compatible: "
                   "the stages of the next tasks are whole, three unless `unsharded` says more",
       .binding = IN_JOB(memory.unshardRule)},
      {.path = "memory.parameters", .later = kTiers},
      {.path = "memory.gradients", .later = kTiers},
      {.path = "memory.optimizer", .later = kTiers},
      {.path = "memory.activations", .later = kTiers},
      {.path = "memory.prefetch", .later = kTiers},
      {.path = "memory.tiling", .later = "products in tiles"},
  };
}

} // namespace vime
