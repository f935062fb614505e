// Engines that are not paused in time, weights that arrive twice or not at all, versions that say
// nothing: plans with rounds that break W.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/verify/RoundDraft.h"

namespace vime {
namespace {

using namespace plan;

TEST(W1, ACacheTwice) {
  EXPECT_EQ(findingsAfter([](RoundDraft &draft) { draft.repeat(2, "wake"); }),
            R"(error[W0101]: wake of rank 2 gives a cache to an engine that has one
  = to   rank 2, action 1: wake
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) { draft.move(rank, "wake", 0, "pause"); }),
            "W0101");
}

TEST(W1, AnEngineThatRunsForgets) {
  EXPECT_EQ(findingsAfter([](RoundDraft &draft) { draft.move(2, "flush", 0, "pause"); }),
            R"(error[W0102]: flush of rank 2 drops what is cached of an engine that runs
  = to   rank 2, action 2: flush
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) { draft.remove(rank, "pause"); }), "W0102");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) { draft.remove(rank, "pause", 1); }),
            "W0102"); // behind the last round
}

TEST(W1, WeightsAreWrittenWhileTheEngineRuns) {
  EXPECT_EQ(
      findingsAfter([](RoundDraft &draft) {
        draft.remove(2, "pause");
        draft.remove(2, "flush");
      }),
      R"(error[W0103]: broadcast_weights `sync 0` of rank 2 writes weights of an engine that runs
  = to   rank 2, action 2: broadcast_weights `sync 0`
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) { draft.remove(rank, "wake"); }),
            "S0201 W0103");
}

TEST(W1, AnEngineGeneratesWhilePaused) {
  EXPECT_EQ(findingsAfter([](RoundDraft &draft) { draft.remove(2, "resume"); }),
            R"(error[W0105]: generate of rank 2 generates with an engine that is paused
  = to   rank 2, action 16: generate
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
}

TEST(W1, AnEngineResumesAsleep) {
  // Nothing is written before: its weights were there from the start.
  EXPECT_NE(onEngines([](RoundDraft &draft, auto rank) {
              draft.remove(rank, "wake");
              for (const std::string_view sync :
                   {"broadcast_weights `sync 0`", "broadcast_weights `sync 1`"})
                for (int part = 0; part < 2 * 2; ++part)
                  draft.replaceByJoin(rank, sync);
            }).find("W0104"),
            std::string::npos);
}

TEST(W2, APartArrivesTwice) {
  EXPECT_EQ(
      findingsAfter([](RoundDraft &draft) {
        for (const std::uint32_t rank : {0u, 2u, 3u})
          draft.action(rank, "broadcast_weights `sync 0`", 1).immediate = 0;
      }),
      R"(error[W0201]: broadcast_weights `sync 0` of rank 2 writes a part of the weights a second time
  = to   rank 2, action 5: broadcast_weights `sync 0`
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1

error[W0201]: broadcast_weights `sync 0` of rank 3 writes a part of the weights a second time
  = to   rank 3, action 5: broadcast_weights `sync 0`
)");
}

TEST(W2, APartIsMissing) {
  EXPECT_EQ(
      findingsAfter([](RoundDraft &draft) {
        for (const std::uint32_t rank : {0u, 2u, 3u})
          draft.remove(rank, "broadcast_weights `sync 0`", 1);
      }),
      R"(error[W0202]: publish of rank 2 publishes weights of which a part of stage 0 has not arrived
  = to   rank 2, action 13: publish
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1

error[W0202]: publish of rank 3 publishes weights of which a part of stage 0 has not arrived
  = to   rank 3, action 13: publish
)");
}

TEST(W2, AMemberMeansAnotherPart) {
  EXPECT_EQ(
      findingsAfter([](RoundDraft &draft) {
        std::swap(draft.action(0, "broadcast_weights `sync 0`", 0).immediate,
                  draft.action(0, "broadcast_weights `sync 0`", 1).immediate);
      }),
      R"(error[W0203]: broadcast_weights `sync 0` of rank 2 takes another part of the weights than rank 0 gives
  = from rank 0, action 5: broadcast_weights `sync 0`
  = to   rank 2, action 4: broadcast_weights `sync 0`
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
  // Two stages of a rank travel over one group.
  JobShape shape = roundShape();
  shape.schedule = "interleaved";
  shape.chunks = 2;
  shape.layers = 4;
  RoundDraft draft(shape);
  const std::uint32_t of = draft.action(2, "broadcast_weights `sync 0`", 0).stage;
  std::uint32_t other = 0;
  while (draft.action(2, "broadcast_weights `sync 0`", other).stage == of)
    ++other;
  draft.swap(2, draft.indexOf(2, "broadcast_weights `sync 0`", 0),
             draft.indexOf(2, "broadcast_weights `sync 0`", other));
  EXPECT_NE(draft.codes().find("W0203"), std::string::npos);
}

TEST(W3, AStageIsNotInstalled) {
  EXPECT_EQ(findingsAfter([](RoundDraft &draft) { draft.remove(2, "install, stage 1"); }),
            R"(error[W0301]: publish of rank 2 publishes weights of which stage 1 is not installed
  = to   rank 2, action 13: publish
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) {
              draft.move(rank, "install, stage 1", 0, "broadcast_weights `sync 1`");
            }),
            "S0201 M0302 W0301");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) {
              draft.move(rank, "publish", 0, "broadcast_weights `sync 1`", 1);
            }),
            "W0301 W0202");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) {
              draft.action(rank, "install, stage 1").stage = 0;
            }),
            "S0203 W0301");
}

TEST(W3, WeightsWithoutAVersion) {
  EXPECT_EQ(findingsAfter([](RoundDraft &draft) { draft.move(2, "resume", 0, "publish"); }),
            R"(error[W0302]: resume of rank 2 resumes with weights that have no version
  = to   rank 2, action 14: resume
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) { draft.remove(rank, "publish"); }),
            "W0302 W0201");
}

TEST(W3, SomethingNewBehindAVersion) {
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) {
              draft.repeat(rank, "install, stage 1");
              draft.move(rank, "install, stage 1", 1, "resume");
            }),
            "W0302");
}

TEST(W3, AVersionOfARunningEngine) {
  EXPECT_EQ(findingsAfter([](RoundDraft &draft) {
              draft.repeat(2, "publish");
              draft.move(2, "publish", 1, "gather `samples`");
            }),
            R"(error[W0303]: publish of rank 2 publishes weights of an engine that runs
  = to   rank 2, action 18: publish
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1

error[W0202]: publish of rank 2 publishes weights of which a part of stage 0 has not arrived
  = to   rank 2, action 18: publish
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
}

TEST(W3, AVersionTwice) {
  EXPECT_EQ(findingsAfter([](RoundDraft &draft) { draft.action(2, "publish", 1).immediate = 0; }),
            R"(error[W0305]: publish of rank 2 publishes a version that another round has
  = to   rank 2, action 38: publish
  = note: in a step with microbatches = 2, evaluate = 1, rollout = 1
)");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) {
              draft.action(rank, "publish").immediate = kBehindLastRound;
            }),
            "W0305");
  EXPECT_EQ(onEngines([](RoundDraft &draft, auto rank) { draft.repeat(rank, "publish"); }),
            "W0305 W0202");
}

bool isOfSync(const Action &action) {
  switch (static_cast<Opcode>(action.opcode)) {
  case Opcode::Pause:
  case Opcode::Flush:
  case Opcode::BroadcastWeights:
  case Opcode::Install:
  case Opcode::Publish:
  case Opcode::Resume:
    return true;
  default:
    return false;
  }
}

TEST(W3, NoWeightsBehindTheLastRound) {
  RoundDraft draft;
  for (Program &program : draft.plan.programs)
    for (auto index = static_cast<std::uint32_t>(program.actions.size());
         index-- > program.loops[0].end;)
      if (isOfSync(program.actions[index]))
        Mutant::erase(program, index);
  EXPECT_EQ(draft.codes(), "W0304");
}

/// Engines get weights in front of the steps, and in each of them not at its beginning, but in
/// front of its update, if at all.
std::string syncedBeforeUpdates(bool inSteps) {
  JobShape shape = roundShape();
  shape.stepsOfRound = 1;
  shape.evaluatesPrompts = false;
  RoundDraft draft(shape);
  for (std::uint32_t rank = 0; rank < draft.plan.programs.size(); ++rank) {
    Program &program = draft.program(rank);
    Loop &loop = program.loops[0];
    std::vector<Action> sync;
    for (std::uint32_t index = loop.begin; index < loop.end; ++index)
      if (isOfSync(program.actions[index])) {
        sync.push_back(program.actions[index]);
        draft.joinAt(rank, index);
      }
    std::uint32_t update = loop.begin;
    while (update < loop.end && program.actions[update].opcode != code(Opcode::ScaleGradients))
      ++update;
    const auto count = static_cast<std::uint32_t>(sync.size());
    for (std::uint32_t index = 0; index < count && inSteps; ++index)
      Mutant::insert(program, update, sync[count - 1 - index]);
    if (inSteps && update == loop.end) // an engine
      loop.end += count;
    for (std::uint32_t index = 0; index < count; ++index)
      Mutant::insert(program, loop.begin + index, sync[index]);
    loop.begin += count;
  }
  return draft.codes();
}

TEST(S2, EnginesHearOfUpdatesTooLate) {
  EXPECT_NE(syncedBeforeUpdates(false).find("S0203"), std::string::npos);
  EXPECT_NE(syncedBeforeUpdates(true).find("S0203"), std::string::npos);
}

} // namespace
} // namespace vime
