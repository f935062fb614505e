// engineSeconds: how long an engine generates responses of known lengths: its continuous batching,
// step by step, at what a step costs.
//
//   const std::vector<EngineSequence> queue = {{.draw = 0, .prompt = 6, .response = 3}, …};
//   engineSeconds(queue, {.slots = 64, .stepTokens = 72}, costs)
//
// As runtime/Engine does it: a sequence has a slot from when it comes until it ends; a step takes a
// token of each that decodes, and of prompts what is left of its tokens, those that came first
// before others; a prompt is computed for one of its samples, from which the others copy it.
#pragma once

#include <cstdint>
#include <span>

namespace vime {

/// Seconds of an engine's step: that of what it computes or that of what it reads, whichever is
/// longer, and what any step takes.
struct EngineCosts {
  double step = 0;
  double row = 0, pair = 0, draw = 0; // a token through the layers; a key it sees; a token drawn
  double weights = 0, key = 0;        // all weights once; what is cached of a token
};

/// What a step does; of several steps their mean.
struct EngineLoad {
  double rows = 0, pairs = 0, draws = 0, keys = 0;
};

inline double secondsOf(const EngineCosts &costs, const EngineLoad &load) {
  const double computes = costs.row * load.rows + costs.pair * load.pairs + costs.draw * load.draws;
  const double reads = costs.weights + costs.key * load.keys;
  return costs.step + (computes > reads ? computes : reads);
}

/// In the sequence in which they come; samples of a draw follow each other.
struct EngineSequence {
  std::uint32_t draw = 0, prompt = 1, response = 1; // tokens, at least 1
};

struct EngineShape {
  std::uint32_t slots = 1, stepTokens = 1;
};

struct EngineSums {
  double steps = 0, rows = 0, draws = 0, seconds = 0;
};

EngineSums engineSums(std::span<const EngineSequence> queue, EngineShape shape,
                      const EngineCosts &costs);
inline double engineSeconds(std::span<const EngineSequence> queue, EngineShape shape,
                            const EngineCosts &costs) {
  return engineSums(queue, shape, costs).seconds;
}

/// What an engine did, and how long that took.
struct EngineObservation {
  double steps = 0, rows = 0, seconds = 0;
};
/// Costs of any step and of a row, by least squares; neither is negative.
EngineCosts fitEngine(std::span<const EngineObservation> observations);

} // namespace vime
