// What a plan may say of rounds, whoever wrote it.
#include <limits>

#include <gtest/gtest.h>

#include "runtime/Plan/CheckParts.h"

namespace vime {
namespace {

using namespace plan;

Plan planWithRounds() {
  Plan plan;
  plan.mesh.engines = 2;
  plan.models.resize(1);
  plan.data = {.sequence = 12, .samples = 4, .tokens = 48, .microbatches = 4, .batch = 4};
  plan.run.steps = 6;
  plan.round.rollout = {.engines = 2,
                        .steps = 2,
                        .prompts = 4,
                        .candidates = 6,
                        .samples = 2,
                        .maxPrompt = 4,
                        .maxNew = 8,
                        .slots = 2,
                        .stepTokens = 6};
  plan.round.prompts.file = "prompts.jsonl";
  plan.round.sync.bucket = 4096;
  return plan;
}

struct Change {
  const char *name;
  void (*apply)(Plan &plan);
  const char *message;
};

class RoundSettings : public testing::TestWithParam<Change> {};

TEST_P(RoundSettings, AreRefused) {
  Plan plan = planWithRounds();
  ASSERT_TRUE(checkRound(plan).ok()) << checkRound(plan).message();
  GetParam().apply(plan);
  const Status status = checkRound(plan);
  EXPECT_EQ(status.code(), StatusCode::Unacceptable);
  EXPECT_NE(status.message().find(GetParam().message), std::string::npos) << status.message();
}

INSTANTIATE_TEST_SUITE_P(
    Plan, RoundSettings,
    testing::Values(
        Change{"WithoutEngines", [](Plan &plan) { plan.mesh.engines = 0; },
               "rounds without engines"},
        Change{"OtherEngines", [](Plan &plan) { plan.round.rollout.engines = 3; },
               "rounds with 3 engines, the mesh has 2"},
        Change{"ThreeModels", [](Plan &plan) { plan.models.resize(3); },
               "rounds with other models"},
        Change{"Slices", [](Plan &plan) { plan.data.slices = 2; }, "samples in slices"},
        Change{"Shards", [](Plan &plan) { plan.models[0].sharded = true; }, "share their weights"},
        Change{"NoFile", [](Plan &plan) { plan.round.prompts.file = ""; }, "no legible name"},
        Change{"Bucket", [](Plan &plan) { plan.round.sync.bucket = 4095; },
               "weights in parts of 4095 bytes"},
        Change{"FewCandidates", [](Plan &plan) { plan.round.rollout.candidates = 3; },
               "rounds of 4 prompts out of 3"},
        Change{"ShortSequences", [](Plan &plan) { plan.round.rollout.maxNew = 7; },
               "sequences of 4 tokens of a prompt and 7 new ones"},
        Change{"Slots", [](Plan &plan) { plan.round.rollout.slots = 7; },
               "engines of 7 sequences and 6 tokens a step"},
        Change{"Steps", [](Plan &plan) { plan.run.steps = 7; },
               "8 samples of a round in 2 steps of 4, 7 steps in all"},
        Change{"Temperature",
               [](Plan &plan) {
                 plan.round.rollout.sampling.temperature = std::numeric_limits<double>::quiet_NaN();
               },
               "how tokens are drawn is out of range"},
        Change{"Workers", [](Plan &plan) { plan.round.reward.minWorkers = 2; },
               "rewards are given in no known way"},
        Change{"Clip", [](Plan &plan) { plan.round.algorithm.clipLow = -1; },
               "a setting of the algorithm is out of range"},
        Change{"Evaluation", [](Plan &plan) { plan.round.evaluation.every = 2; },
               "an evaluation of prompts that there are not"}),
    [](const auto &one) { return one.param.name; });

} // namespace
} // namespace vime
