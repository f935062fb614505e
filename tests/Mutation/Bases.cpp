#include "tests/Mutation/Bases.h"

#include <cstdlib>

#include "compiler/Lowering/BuildOrder.h"
#include "tests/lowering/Lowered.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

BaseOrder orderOf(const JobShape &shape) {
  const Job job = jobOf(shape);
  Findings findings;
  const auto order = buildOrder(job, findings);
  if (!order)
    std::abort();
  return {shape.schedule, job, *order};
}

} // namespace

const std::vector<BasePlan> &basePlans() {
  static const std::vector<BasePlan> kPlans = {
      {"by hand, export", smallPlan({.exportTo = "model"})},
      {"by hand, a loop", foldedPlan({.exportTo = "model"})},
      {"gpipe", lowered({.schedule = "gpipe", .microbatches = 2, .layers = 2, .exportTo = "out"})},
      {"1f1b, 3 ranks", lowered({.ranks = 3, .microbatches = 4, .layers = 3})},
      {"interleaved",
       lowered({.schedule = "interleaved", .microbatches = 4, .chunks = 2, .layers = 4})},
      {"zb-h1",
       lowered({.schedule = "zb-h1", .microbatches = 3, .layers = 2, .mergeBackwards = "none"})},
      {"zb-h1, merged", lowered({.schedule = "zb-h1",
                                 .ranks = 3,
                                 .microbatches = 3,
                                 .layers = 3,
                                 .mergeBackwards = "all"})},
      {"zb-v", lowered({.schedule = "zb-v", .microbatches = 3, .chunks = 2, .layers = 4})},
      {"1f1b, dp 2", lowered({.microbatches = 2, .layers = 2, .exportTo = "out", .replicas = 2})},
      {"1f1b, folded", lowered({.microbatches = 16, .layers = 2})},
      {"gpipe, folded", lowered({.schedule = "gpipe", .microbatches = 16, .layers = 2})},
      {"1f1b, dp 2, sharded",
       lowered(
           {.microbatches = 2, .layers = 2, .exportTo = "out", .replicas = 2, .sharded = true})},
      {"interleaved, evaluation, dp 3, sharded", lowered({.schedule = "interleaved",
                                                          .microbatches = 2,
                                                          .chunks = 2,
                                                          .layers = 4,
                                                          .evaluates = 1,
                                                          .replicas = 3,
                                                          .sharded = true})},
      {"short steps", lowered({.microbatches = 3, .layers = 2, .family = {2, 3}})},
      {"short steps, folded", lowered({.microbatches = 12, .layers = 2, .family = {7, 9, 12}})},
      {"short steps, dp 2",
       lowered({.ranks = 1, .microbatches = 2, .layers = 2, .family = {1, 2}, .replicas = 2})},
      {"evaluation", lowered({.microbatches = 2, .layers = 2, .evaluates = 2})},
      {"evaluation, short steps, dp 2", lowered({.ranks = 1,
                                                 .microbatches = 2,
                                                 .layers = 2,
                                                 .family = {1, 2},
                                                 .evaluates = 2,
                                                 .replicas = 2})},
      {"checkpoints", lowered({.microbatches = 2, .layers = 2, .exportTo = "out", .saves = 2})},
      {"one receive slot", lowered({.ranks = 3, .microbatches = 4, .layers = 3, .slots = {1}})},
      {"four receive slots",
       lowered(
           {.schedule = "interleaved", .microbatches = 4, .chunks = 2, .layers = 4, .slots = {4}})},
      {"receive slots of each rank, folded",
       lowered({.ranks = 2, .microbatches = 24, .layers = 2, .slots = {1, 4}})},
      {"early commits",
       lowered({.microbatches = 3, .layers = 2, .exportTo = "out", .runsEarly = true})},
      {"early commits, zb-h1, evaluation, checkpoints", lowered({.schedule = "zb-h1",
                                                                 .microbatches = 3,
                                                                 .layers = 2,
                                                                 .evaluates = 2,
                                                                 .saves = 2,
                                                                 .runsEarly = true})},
      {"tied head", lowered({.microbatches = 2, .layers = 2, .tiedHead = true})},
      {"slices", lowered({.schedule = "seq1f1b", .microbatches = 2, .layers = 2, .slices = 2})},
      {"slices, folded",
       lowered({.schedule = "seq1f1b", .microbatches = 16, .layers = 2, .slices = 2})},
      {"slices, evaluation, short steps, dp 2", lowered({.schedule = "seq1f1b",
                                                         .ranks = 1,
                                                         .microbatches = 2,
                                                         .layers = 2,
                                                         .family = {2, 4},
                                                         .evaluates = 2,
                                                         .replicas = 2,
                                                         .slices = 2})},
      {"rounds, one rank",
       lowered(
           {.ranks = 1, .microbatches = 2, .layers = 1, .engines = 1, .evaluatesPrompts = true})},
      {"rounds", lowered({.microbatches = 2,
                          .layers = 2,
                          .exportTo = "out",
                          .engines = 2,
                          .stepsOfRound = 2,
                          .hasReference = true,
                          .evaluatesPrompts = true})},
      {"rounds, zb-v", lowered({.schedule = "zb-v",
                                .microbatches = 2,
                                .chunks = 2,
                                .layers = 4,
                                .engines = 1,
                                .evaluatesPrompts = true})},
      {"rounds, zb-h1, checkpoints", lowered({.schedule = "zb-h1",
                                              .microbatches = 2,
                                              .layers = 2,
                                              .tiedHead = true,
                                              .saves = 2,
                                              .engines = 1,
                                              .stepsOfRound = 2})},
      {"rounds, a KL in rewards", lowered({.microbatches = 2,
                                           .layers = 2,
                                           .engines = 1,
                                           .stepsOfRound = 2,
                                           .hasReference = true,
                                           .takesKlFromRewards = true})},
      {"rounds, dp 2", lowered({.microbatches = 2,
                                .layers = 2,
                                .replicas = 2,
                                .engines = 2,
                                .stepsOfRound = 2,
                                .hasReference = true})},
  };
  return kPlans;
}

const std::vector<BaseOrder> &baseOrders() {
  static const std::vector<BaseOrder> kOrders = {
      orderOf({.schedule = "gpipe", .microbatches = 3, .layers = 2}),
      orderOf({.schedule = "1f1b", .ranks = 3, .microbatches = 4, .layers = 3}),
      orderOf({.schedule = "interleaved", .microbatches = 4, .chunks = 2, .layers = 4}),
      orderOf({.schedule = "zb-h1", .microbatches = 3, .layers = 2, .mergeBackwards = "none"}),
      orderOf({.schedule = "zb-v", .microbatches = 3, .chunks = 2, .layers = 4}),
  };
  return kOrders;
}

} // namespace vime
