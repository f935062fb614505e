// Plans with rounds: those that the lowering makes keep every rule; each of the others breaks one.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "schedules/Registry.h"
#include "tests/verify/RoundDraft.h"

namespace vime {
namespace {

using namespace plan;

/// Orders of one stage a rank and of two.
struct OrderOfRounds {
  const char *schedule;
  std::uint32_t chunks;
};
constexpr OrderOfRounds kOrders[] = {
    {"1f1b", 1}, {"gpipe", 1}, {"zb-h1", 1}, {"zb-v", 2}, {"interleaved", 2}};

void expectKept(JobShape shape) {
  SCOPED_TRACE(testing::Message() << shape.schedule << " ranks " << shape.ranks << " replicas "
                                  << shape.replicas << " engines " << shape.engines << " steps "
                                  << shape.stepsOfRound << " reference " << shape.hasReference
                                  << " evaluation " << shape.evaluatesPrompts);
  EXPECT_EQ(judged(lowered(shape)), "");
}

TEST(Rounds, EveryShapeKeepsTheRules) {
  for (const auto &[schedule, chunks] : kOrders)
    for (const std::uint32_t ranks : {1u, 2u, 4u})
      for (const std::uint32_t replicas : {1u, 2u})
        for (const std::uint32_t steps : {1u, 2u})
          for (const bool hasReference : {false, true}) {
            if (check(*findOrder(schedule), {static_cast<int>(ranks), 4, static_cast<int>(chunks)}))
              continue;
            expectKept({.schedule = schedule,
                        .ranks = ranks,
                        .microbatches = 4,
                        .chunks = chunks,
                        .replicas = replicas,
                        .engines = ranks == 2 ? 2u : 1u,
                        .stepsOfRound = steps,
                        .hasReference = hasReference,
                        .evaluatesPrompts = steps == 2 || ranks == 2});
          }
}

TEST(Rounds, CheckpointsAndExportsOfThemToo) {
  for (const std::uint32_t replicas : {1u, 2u})
    for (const bool evaluates : {false, true})
      expectKept({.microbatches = 2,
                  .layers = 4,
                  .exportTo = "out",
                  .replicas = replicas,
                  .tiedHead = !evaluates, // a reference of one is refused
                  .recomputesLayers = true,
                  .saves = 2,
                  .engines = 2,
                  .stepsOfRound = 2,
                  .hasReference = evaluates,
                  .evaluatesPrompts = evaluates});
}

TEST(Rounds, WaitingForEverythingBreaksNoRule) {
  EXPECT_EQ(codesAfter([](RoundDraft &) {}), "");
}

TEST(S1, PromptsAreAnsweredOnce) {
  EXPECT_EQ(findingsAfter([](RoundDraft &draft) { draft.repeat(2, "generate", 1); }),
            R"(error[S0113]: generate of rank 2 runs where prompts are to be gathered
  = from rank 2, action 20: generate
  = to   rank 2, action 21: generate
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
  EXPECT_EQ(findingsAfter([](RoundDraft &draft) {
              std::swap(draft.action(0, "draw_prompts").opcode,
                        draft.action(0, "draw_evaluation").opcode);
            }),
            R"(error[S0113]: score_evaluation of rank 0 scores samples of other prompts
  = from rank 0, action 11: gather `samples`
  = to   rank 0, action 12: score_evaluation
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) { draft.remove(rank, "generate", 1); }),
            "S0113");
  // It would answer held-out prompts a second time.
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) {
              draft.move(rank, "generate", 1, "broadcast `prompts`", 1);
            }),
            "S0113 M0302");
  EXPECT_EQ(codesAfter([](RoundDraft &draft) { draft.move(0, "score", 0, "gather `samples`", 1); }),
            "S0113");
  EXPECT_EQ(codesAfter([](RoundDraft &draft) {
              for (const std::uint32_t rank : {0u, 2u, 3u})
                draft.repeat(rank, "broadcast `prompts`");
            }),
            "S0113");
}

TEST(S1, RoundsAreDrawnScoredAndPackedOnce) {
  EXPECT_EQ(findingsAfter([](RoundDraft &draft) { draft.repeat(0, "pack"); }),
            R"(error[S0106]: `pack` runs 2 times in an iteration of loop 0, not once
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
  for (const char *action : {"pack", "load_round"})
    EXPECT_EQ(codesAfter([&](RoundDraft &draft) { draft.remove(0, action); }), "S0106");
  for (const std::uint32_t time : {0u, 1u}) // in a round, and behind the last one
    EXPECT_EQ(codesAfter([&](RoundDraft &draft) { draft.remove(0, "score_evaluation", time); }),
              "S0106 S0113");
}

TEST(S1, AReferenceIsTrained) {
  EXPECT_EQ(
      findingsAfter([](RoundDraft &draft) {
        const std::string_view infer = "infer, stage 0, microbatch 0";
        draft.repeat(0, infer);
        draft.action(0, infer).opcode = code(Opcode::Forward);
      }),
      R"(error[S0112]: stage 0 of model 1, microbatch 0 is trained in an iteration of loop 0, though the model is not
  = note: in a step with microbatches = 1, evaluate = 1, rollout = 1
)");
}

TEST(S2, SamplesOfARoundThatIsNotScoredYet) {
  EXPECT_NE(
      codesAfter([](RoundDraft &draft) { draft.move(0, "load_round", 0, "pack"); }).find("S0202"),
      std::string::npos);
  EXPECT_EQ(codesAfter([](RoundDraft &draft) {
              draft.remove(0, "send metrics to rank 1, policy");
              draft.remove(1, "receive metrics from rank 0, policy");
            }),
            "S0201");
}

/// With the KL in the reward advantages are made again when the reference has passed.
TEST(S2, AdvantagesAreTakenBeforeTheyAreMade) {
  JobShape shape = roundShape();
  shape.takesKlFromRewards = true;
  expectKept(shape);
  RoundDraft draft(shape);
  draft.move(1, draft.indexOf(1, "advantage"), draft.indexOf(1, "scale_gradients, stage 1"));
  EXPECT_EQ(draft.codes(), "S0202");
}

TEST(S3, AnEngineWithoutAStage) {
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) {
              for (LocalStage &local : draft.program(rank).stages)
                local.model = 1;
            }),
            "S0321 S0320 C0307 W0203");
}

TEST(D1, AHeaderThatEnginesDoNotGet) {
  EXPECT_EQ(codesAfter([](RoundDraft &draft) {
              for (const std::uint32_t rank : {0u, 2u, 3u})
                draft.remove(rank, "broadcast `rounds`");
            }),
            "S0201 D0101");
}

TEST(D1, APackedHeaderIsNotSentAgain) {
  EXPECT_EQ(codesAfter([](RoundDraft &draft) {
              for (const std::uint32_t rank : {0u, 1u})
                draft.remove(rank, "broadcast `step`", 1);
            }),
            "S0202 D0102");
}

TEST(D1, EnginesAskForMicrobatches) {
  EXPECT_NE(onEngines([](RoundDraft &draft, auto rank) {
              draft.move(rank, draft.indexOf(rank, "generate", 1), draft.indexOf(rank, "join"));
            }).find("D0102"),
            std::string::npos);
}

TEST(S3, ABroadcastFromAnEngine) {
  EXPECT_EQ(codesAfter([](RoundDraft &draft) {
              for (Group &group : draft.plan.groups)
                group.root = group.name == "rounds" ? 1 : group.root;
            }),
            "S0305");
}

/// Held-out prompts are answered where a round begins, and so not in every step.
TEST(D3, EveryStepIsEvaluatedAndNotEveryStepBeginsARound) {
  EXPECT_EQ(codesAfter([](RoundDraft &draft) {
              for (DecisionRange &range : draft.plan.decisions)
                if (range.decision == Decision::Evaluate)
                  range.values = {1};
            }),
            "S0201 W0105");
}

/// A header that has not been packed says nothing of tokens.
TEST(S4, AnEngineSkipsWhatHasNoMicrobatch) {
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) {
              draft.action(rank, "publish").flags |= kSkipIfEmpty;
              draft.action(rank, "wake").flags |= kSkipIfEmpty;
            }),
            "S0417");
}

TEST(C3, AnEngineDoesNotCall) {
  RoundDraft draft;
  draft.remove(3, "broadcast `prompts`");
  EXPECT_EQ(codesOf(draft.plan), "S0113 C0303");
}

TEST(C4, NoConnectionToAnEngine) {
  EXPECT_EQ(
      findingsAfter([](RoundDraft &draft) {
        for (ConnectRound &round : draft.plan.connect)
          std::erase_if(round.pairs, [](const auto &pair) { return pair[1] == 3; });
      }),
      R"(error[C0401]: no round connects ranks 0 and 3, which exchange messages on group `rounds`
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1

error[C0401]: no round connects ranks 1 and 3, which exchange messages on group `sync 1`
)");
}

/// Whatever an engine writes while it generates, or before, leaves its weights alone.
TEST(M2, WeightsInTheBytesOfOtherBuffers) {
  for (const char *other : {"samples", "cache", "records", "prompts"}) {
    RoundDraft draft;
    auto &buffers = draft.plan.layouts[2].buffers;
    buffers[draft.bufferOf(2, other)].offset =
        buffers[draft.bufferOf(2, "weights of stage 0")].offset;
    EXPECT_NE(draft.codes().find("M020"), std::string::npos) << other;
  }
}

TEST(M3, WeightsAreInstalledBeforeTheyArrive) {
  RoundDraft draft;
  draft.action(2, "install, stage 1").waits = {};
  EXPECT_EQ(
      judged(draft.plan),
      R"(error[M0301]: install, stage 1 reads `weights of stage 1` without waiting until it is written
  = from rank 2, action 11: broadcast_weights `sync 1`
  = to   rank 2, action 13: install, stage 1
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
}

} // namespace
} // namespace vime
