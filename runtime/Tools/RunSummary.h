// RunSummary: what a run came to, step by step and as a whole, and its two faces: text for people,
// JSON for programs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/Exec/RunObserver.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Idle share of the ranks' time in a step: 1 - Σ busy / (ranks × duration), where `busy` is the
/// time a rank spends inside compute and update actions by the wall clock, and the duration is that
/// of the rank with the longest step. It is what a pipeline's bubble is when every rank has a core
/// of its own; with fewer cores an action's time includes its wait for a core, so that the idle
/// share comes out too small, which the summary says.
double bubbleOf(std::span<const plan::RankStats> ranks);

struct StepSummary {
  StepRecord record;
  double seconds = 0; // of the rank with the longest step; in rounds without the rollout
  double bubble = 0;
};

double tokensPerSecond(const StepSummary &step);

/// What engines generate, all together, by the time of the one that took longest.
double tokensPerSecond(const RoundRecord &round);
/// What a round takes besides its steps.
double rolloutSeconds(const RoundRecord &round);
/// With three decimals, or, of a huge one, three digits.
std::string rewardText(double reward);
double meanLength(const RoundRecord &round); // of responses
/// `mean reward 0.530, pass@1 0.500, pass@4 0.710`
std::string scoresOf(const PromptsRecord &record);

struct RunSummary {
  explicit RunSummary(const plan::Plan &plan, std::string transport);

  /// Takes in a step and returns its summary.
  const StepSummary &add(const StepRecord &record, std::span<const plan::RankStats> ranks);

  std::string name, transport, exportedTo;
  std::string savedIn;              // directory of the checkpoints, as the job states it
  std::vector<std::uint64_t> saved; // steps behind which the run was saved
  std::uint64_t plannedSteps = 0;
  plan::Predictions expected; // what the plan says a step takes
  std::vector<StepSummary> steps;
  std::vector<EvaluationRecord> evaluations;
  std::vector<RoundRecord> rounds;
  std::vector<PromptsRecord> promptEvaluations;
  bool hasRounds = false;
  std::vector<double> computeSeconds;    // by rank that trains; engines tell theirs with samples
  std::vector<std::uint64_t> arenaBytes; // by rank, all tiers: exact, known before the run
  std::vector<ResidentRecord> resident;  // of each process that told
  unsigned cores = 1;

  /// What the process may have resident: its ranks' arenas and the allowance (Allowance.h).
  std::uint64_t allowed(const ResidentRecord &process) const;
  double seconds() const;
  std::uint64_t skippedSteps() const; // whose gradients were not finite
  double tokensPerSecond() const;
  double bubble() const; // mean over the steps, weighted by their durations
  /// At the costs that the plan knows, else at unit costs.
  double expectedBubble() const;
  std::size_t slowestRank() const;

private:
  std::uint64_t processAllowance = 0;
  std::vector<std::uint64_t> rankAllowance; // by rank
};

std::string textOf(const RunSummary &summary);
std::string jsonOf(const RunSummary &summary);

/// The same while it goes on, a JSON object a line each: `{"event": "start", …}`, `step`,
/// `save`, `export` and `resident`. A step says what it says in `jsonOf`, too.
std::string startLine(const RunSummary &summary, std::string_view planId);
std::string stepLine(const StepSummary &step);
std::string evaluationLine(const EvaluationRecord &record);
std::string roundLine(const RoundRecord &record);
std::string promptsLine(const PromptsRecord &record);
std::string saveLine(std::uint64_t steps);
std::string exportLine(const std::string &directory);
std::string residentLine(const RunSummary &summary, const ResidentRecord &process);

/// `rank 1 had 30.1 MiB resident, 2.0 MiB more than …`; empty: it is within what it is allowed.
std::string residentWarning(const RunSummary &summary, const ResidentRecord &process);

} // namespace vime
