// Remedies: changes of a job that may make its step shorter, each tried: compiled, proved and
// simulated at the same work.
//
//   for (const Remedy &remedy : remediesFor(job, base))
//     const Tried tried = tryRemedy(job, base, remedy);
//     tried.gain          // 0.18: a step takes 18 % less for each token
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/Analysis/Causes.h"
#include "compiler/Driver/JobOfPlan.h"
#include "compiler/Driver/PlanCosts.h"
#include "schedules/Bounds.h"

namespace vime {

struct Remedy {
  std::string what;                  // "another order", "more microbatches"
  std::vector<std::string> settings; // of the job: `pipeline.schedule=zb-h1`
  bool dropsRecompute = false;       // backwards no longer compute their forwards again
  std::string whyNot;                // it is not tried; empty: it is
};

/// A plan with what is known of its step.
struct SteppedPlan {
  const plan::Plan &plan;
  const PlanCosts &costs;
  const CostBasis &basis;  // that they were found by
  bool isMeasured = false; // by a trace instead
  std::int64_t period = 0;
  std::vector<Cause> causes;
  Bound bound;        // what no order of its stages, microbatches and activations undercuts
  bool splits = true; // nor one that cuts backwards in two; else only those of whole ones
};

/// What a change of the job led to.
struct Tried {
  Remedy remedy;
  std::string whyNot; // there is no such plan; empty: there is
  std::int64_t period = 0;
  double gain = 0; // share of the time of a token that is saved; below 0: it takes more
  std::optional<CauseKind> saved; // what most of it is saved of
  double early = 0;               // share that its order saves where steps have no barrier
  std::uint64_t memory = 0;       // arenas of the fullest rank
  plan::Hash128 work{};           // idOfWork of its plan
  std::vector<std::vector<std::string>> also; // settings that lead to the same plan
};

std::vector<Remedy> remediesFor(const JobAgain &job, const SteppedPlan &base);

/// The same change, and steps without a barrier, where the order is known to gain by that.
std::optional<Remedy> withEarlyCommit(const Tried &tried);

Tried tryRemedy(const JobAgain &job, const SteppedPlan &base, Remedy remedy);

/// What ranks do by the plan: equal for two plans of which only names are different.
plan::Hash128 idOfWork(plan::Plan plan);

/// Arenas of the fullest rank.
std::uint64_t memoryOf(const plan::Plan &plan);

} // namespace vime
