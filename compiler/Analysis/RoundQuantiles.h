// RoundQuantiles: how long rounds take if nobody knows how long responses will be, only how often
// which length occurs.
//
//   const RoundQuantiles rounds = roundQuantiles(plan, durations, costs, lengths, pack);
//   rounds.period.middle, rounds.generation.high
//
// Rounds are drawn: a length for each prompt and response, each by itself; their engines' batching
// (EngineBatches.h) and the packing of what is trained on (runtime/Data/RoundPlan.h) are those of a
// run; the rest of a round is simulated for as many microbatches as its steps then have, of full
// ones. Taken for granted: the lengths of samples of a prompt do not depend on each other, and the
// first prompts drawn are those that are trained on. The plan's seed decides what is drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/Analysis/EngineBatches.h"
#include "compiler/Analysis/RoundTimes.h"
#include "runtime/Base/Status.h"

namespace vime {

/// Tokens, and how often they occur beside others.
struct LengthWeight {
  std::uint32_t tokens = 1;
  double weight = 1;
};

struct LengthHistogram {
  std::vector<LengthWeight> prompts, responses; // none of prompts: all as long as they may be
};

/// A tenth of all rounds lies below `low`, a tenth above `high`.
struct Quantiles {
  double low = 0, middle = 0, high = 0;
};

struct RoundQuantiles {
  std::uint32_t rounds = 0;
  Quantiles period, generation, tokens;        // nanoseconds; of the responses
  Quantiles microbatches;                      // of a step
  Quantiles bubble, trainersWait, enginesWait; // shares of a role's time in a round
  std::vector<std::int64_t> engines;           // each one's generation, the middle one
};

/// Microbatches of a replica that has most, of a step with samples of so many input tokens; whoever
/// packs them in a run knows.
using StepPacking = std::function<StatusOr<std::uint32_t>(std::span<const std::uint32_t>)>;

inline constexpr std::uint32_t kDrawnRounds = 400;

/// Of a proved plan with rounds. `InvalidInput` if a step could not hold what was drawn.
StatusOr<RoundQuantiles> roundQuantiles(const plan::Plan &plan, const Durations &durations,
                                        const EngineCosts &costs, const LengthHistogram &lengths,
                                        const StepPacking &pack,
                                        std::uint32_t rounds = kDrawnRounds);

/// When the last of engines is through that share so many cores; 0: each has its own.
double lastOf(std::vector<double> engines, std::uint32_t cores);

} // namespace vime
