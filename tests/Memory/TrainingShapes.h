// Jobs that together have every order, every action and every kind of buffer.
#pragma once

#include <ostream>
#include <vector>

#include "tests/Memory/TrainingJob.h"

namespace vime {

struct NamedShape {
  const char *name;
  TrainingShape shape;
};
inline void PrintTo(const NamedShape &named, std::ostream *out) { *out << named.name; }

inline std::vector<NamedShape> trainingShapes() {
  return {
      {"gpipe", {.schedule = "gpipe", .exports = true}},
      {"one_rank", {.ranks = 1, .saves = true}},
      {"one_f_one_b", {.ranks = 4, .exports = true, .saves = true, .evaluates = true}},
      {"interleaved", {.schedule = "interleaved", .evaluates = true}},
      {"zb_h1", {.schedule = "zb-h1", .ranks = 4, .saves = true}},
      {"zb_v", {.schedule = "zb-v", .exports = true, .evaluates = true}},
      {"short_steps", {.steps = 6, .evaluates = true, .hasShortSteps = true}},
      {"tied", {.model = "family: qwen2, tied: true, kv_heads: 1", .exports = true, .saves = true}},
      {"tied_on_one_rank",
       {.schedule = "zb-v", .model = "family: llama, tied: true", .exports = true}},
      {"recomputed", {.model = "family: qwen3", .recomputes = true, .evaluates = true}},
      {"recomputed_and_split", {.schedule = "zb-h1", .recomputes = true}},
      {"float64", {.schedule = "interleaved", .model = "family: llama, dtype: float64"}},
      {"slices",
       {.schedule = "seq1f1b", .ranks = 4, .exports = true, .evaluates = true, .slices = 2}},
      {"slices_recomputed",
       {.schedule = "seq1f1b",
        .steps = 6,
        .model = "family: qwen3, dtype: bfloat16",
        .recomputes = true,
        .saves = true,
        .hasShortSteps = true,
        .slices = 4}},
      {"slices_of_replicas",
       {.schedule = "seq1f1b", .replicas = 2, .model = "family: llama, tied: true", .slices = 2}},
      {"replicas", {.replicas = 2, .exports = true, .saves = true}},
      {"replicas_of_chunks",
       {.schedule = "zb-v", .replicas = 3, .model = "family: llama, tied: true"}},
  };
}

} // namespace vime
