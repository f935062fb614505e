// Lengths: how long prompts and responses are, as `--lengths` says it.
//
//   --lengths uniform:1-24           responses of 1 to 24 tokens, each as often
//   --lengths 4:10,8:20              of 4 tokens 10 times, of 8 tokens 20 times
//   --lengths out/rollouts           what a run has dumped there (`rollout.dump`), prompts too
//
// A dump also says what its rounds generated, so that what a traced run took can be told by it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/Analysis/EngineBatches.h"
#include "compiler/Analysis/RoundQuantiles.h"
#include "compiler/Driver/PlanCosts.h"
#include "runtime/Base/Status.h"

namespace vime {

struct Lengths {
  LengthHistogram histogram;
  std::string origin; // "256 responses of 1 round in out/rollouts"
  /// Of a dump: all sequences of a round, by draw and sample.
  std::map<std::uint32_t, std::vector<EngineSequence>> rounds;
};

/// `Usage` or `InvalidInput`: it makes no sense, or not in this plan; `File`: no such dump.
StatusOr<Lengths> readLengths(const std::string &text, const plan::Plan &plan);

/// As a run packs the samples of a step (runtime/Data/RoundPlan.h). Of a plan that outlives it.
StepPacking packingOf(const plan::Plan &plan);

/// What an engine's step cost in a traced run, by the sequences of its rounds.
StatusOr<EngineCosts> fittedEngine(const plan::Plan &plan, const Lengths &lengths,
                                   const std::vector<TracedRound> &rounds);

} // namespace vime
