#include "tests/engine/TestModels.h"

#include <random>

namespace vime {

ModelConfig fiveLayers(const TestModel &model, DataType type) {
  ModelConfig config = configOf(model, type);
  config.layers = 5;
  return config;
}

std::vector<std::vector<StageRange>> stagesOfFive() {
  return {{{0, 5, true, true}},
          {{0, 3, true, false}, {3, 5, false, true}},
          {{0, 1, true, false}, {1, 5, false, true}},
          {{0, 2, true, false}, {2, 3, false, false}, {3, 4, false, false}, {4, 5, false, true}},
          {{0, 1, true, false}, {1, 2, false, false}, {2, 3, false, false}, {3, 5, false, true}}};
}

std::vector<Asked> someRequests(std::size_t count, std::uint32_t vocab, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  constexpr Sampling kSamplings[] = {{},          {.temperature = 0},
                                     {.topK = 5}, {.temperature = 0.7, .topP = 0.9},
                                     {},          {.temperature = 1.3, .topP = 0.8, .topK = 20}};
  std::vector<Asked> all;
  for (std::size_t index = 0; index < count; ++index) {
    Asked asked{.request = {.prompt = index / 3,
                            .sample = std::uint32_t(index % 3),
                            .seed = seed,
                            .mostNew = std::int32_t(1 + below(20)),
                            .sampling = kSamplings[index % std::size(kSamplings)]}};
    if (index % 3 == 0 || all.empty())
      for (std::uint64_t token = 1 + below(19); token > 0; --token)
        asked.tokens.push_back(std::int32_t(below(vocab)));
    else // samples of a prompt share it
      asked.tokens = all.back().tokens;
    if (index % 4 == 0)
      for (std::size_t stop = 0; stop < kMostStops; ++stop)
        asked.stops.push_back(std::int32_t(below(vocab)));
    all.push_back(std::move(asked));
  }
  return all;
}

} // namespace vime
