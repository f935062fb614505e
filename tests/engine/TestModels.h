// The models that engines are tested with: small, of odd sizes, with grouped queries.
#pragma once

#include <string>

#include "runtime/ModelSpec/ModelSpec.h"
#include "tests/engine/EngineRun.h"

namespace vime {

struct TestModel {
  const char *name;
  ModelFamily family;
  bool tiedHead;
};
inline constexpr TestModel kTestModels[] = {{"llama", ModelFamily::Llama, false},
                                            {"qwen2_tied", ModelFamily::Qwen2, true},
                                            {"qwen3", ModelFamily::Qwen3, false}};

inline ModelConfig configOf(const TestModel &model, DataType type) {
  return {.family = model.family,
          .type = type,
          .layers = 3,
          .hidden = 37,
          .heads = 6,
          .kvHeads = 2,
          .headWidth = 10,
          .ffn = 51,
          .vocab = 43,
          .tiedHead = model.tiedHead};
}

/// A model of five layers as stages: all that the engine's weights may be cut into looks like one
/// of these.
ModelConfig fiveLayers(const TestModel &model, DataType type);
std::vector<std::vector<StageRange>> stagesOfFive();

/// Prompts of 1 to 19 tokens, responses of up to 1 to 20, all ways of sampling; the same for a
/// seed.
std::vector<Asked> someRequests(std::size_t count, std::uint32_t vocab, std::uint64_t seed);
inline constexpr std::uint32_t kMostRows = 40;

} // namespace vime
