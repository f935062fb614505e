// One plan that breaks each rule, and what is read of it.
//
// Each starts from the small plan (tests/plan/SmallPlan.h: 2 ranks, 1F1B, 2 microbatches, 3 steps)
// and changes one thing.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "runtime/Plan/Describe.h"
#include "tests/plan/SmallPlan.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;

/// A small plan on its way to break a rule.
struct Draft {
  Plan plan;

  Action &action(std::uint32_t rank, std::string_view description) {
    return plan.programs[rank].actions[indexOf(plan, rank, description)];
  }
  std::uint32_t bufferIndex(std::uint32_t rank, std::string_view description) {
    std::uint32_t index = 0;
    while (describeBuffer(plan, rank, index) != description)
      ++index;
    return index;
  }
  Buffer &buffer(std::uint32_t rank, std::string_view description) {
    return plan.layouts[rank].buffers[bufferIndex(rank, description)];
  }
  Lane &lane(std::uint32_t rank, std::string_view description) {
    std::uint32_t index = 0;
    while (describeLane(plan, rank, index) != description)
      ++index;
    return plan.programs[rank].lanes[index];
  }
  /// Times stay where they are.
  void swap(std::uint32_t rank, std::string_view one, std::string_view other) {
    Action &first = action(rank, one), &second = action(rank, other);
    std::swap(first, second);
    std::swap(first.time, second.time);
  }
  /// Puts an action in front of an earlier one; times stay where they are.
  void move(std::uint32_t rank, std::string_view what, std::string_view before) {
    auto &actions = plan.programs[rank].actions;
    const std::uint32_t begin = indexOf(plan, rank, before), end = indexOf(plan, rank, what);
    for (std::uint32_t index = end; index > begin; --index) {
      std::swap(actions[index], actions[index - 1]);
      std::swap(actions[index].time, actions[index - 1].time);
    }
  }
  void remove(std::uint32_t rank, std::string_view description) {
    Program &program = plan.programs[rank];
    const std::uint32_t index = indexOf(plan, rank, description);
    program.actions.erase(program.actions.begin() + index);
    for (Loop &loop : program.loops)
      loop.end -= index < loop.end;
  }
};

std::string broken(const std::function<void(Draft &)> &change,
                   const SmallPlanOptions &options = {}) {
  Draft draft{smallPlan(options)};
  change(draft);
  return judged(draft.plan);
}

TEST(S1, ATaskRunsTwiceAndAnotherNever) {
  EXPECT_EQ(broken([](Draft &draft) {
              draft.action(0, "backward, stage 0, microbatch 1").microbatch = 0;
            }),
            R"(error[S0102]: backward of stage 0, microbatch 0 runs twice in a step
  = to   rank 0, action 13: backward, stage 0, microbatch 0

error[S0101]: no backward of stage 0, microbatch 1 runs in an iteration of loop 0

error[M0302]: receive backward from rank 1, stage 0, microbatch 0 overwrites `output_gradient of stage 0` without waiting until it is read
  = from rank 0, action 13: backward, stage 0, microbatch 0
  = to   rank 0, action 10: receive backward from rank 1, stage 0, microbatch 0
)");
}

TEST(S1, ALossIsMissing) {
  EXPECT_EQ(broken([](Draft &draft) {
              Action &loss = draft.action(1, "loss, stage 1, microbatch 1");
              loss.opcode = code(Opcode::Join);
              loss.operandCount = 0;
            }),
            R"(error[S0101]: no loss of stage 1, microbatch 1 runs in an iteration of loop 0
)");
}

TEST(S1, NobodyReports) {
  EXPECT_EQ(broken([](Draft &draft) {
              Action &report = draft.action(0, "report");
              report.opcode = code(Opcode::Decide);
              report.operandCount = 1;
            }),
            R"(error[S0106]: `decide` runs 2 times in an iteration of loop 0, not once

error[S0106]: `report` runs never in an iteration of loop 0, not once

error[M0302]: decide overwrites `header` without waiting until it is read
  = from rank 0, action 3: broadcast `step`
  = to   rank 0, action 22: decide
)");
}

TEST(S1, FewerStepsThanAsked) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.run.steps = 4; }),
            R"(error[S0107]: the plan runs 3 steps, the job asks for 4
)");
}

TEST(S1, AnExportThatNobodyAskedFor) {
  EXPECT_EQ(
      broken([](Draft &draft) { draft.plan.run.exportTo = ""; }, {.exportTo = "model"}),
      R"(error[S0108]: stage 0 is exported once behind the last step, though the job asks for none

error[S0108]: stage 1 is exported once behind the last step, though the job asks for none

error[S0109]: an export is committed once, though the job asks for none
)");
}

// The other rules see it too: the clock of the message, the slot that is read and written without a
// wait.
TEST(S2, AForwardBeforeItsInputIsReceived) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.swap(1, "receive forward from rank 0, stage 1, microbatch 0",
                   "forward, stage 1, microbatch 0");
      }),
      R"(error[S0201]: forward, stage 1, microbatch 0 needs the output of forward, stage 0, microbatch 0, but nothing has been written to `input of stage 1`
  = to   rank 1, action 4: forward, stage 1, microbatch 0

error[C0205]: message 0 of channel `rank 0 → rank 1, forward` has time 7 on rank 0 and time 8 on rank 1
  = from rank 0, action 7: send forward to rank 1, stage 0, microbatch 0
  = to   rank 1, action 5: receive forward from rank 0, stage 1, microbatch 0

error[M0302]: receive forward from rank 0, stage 1, microbatch 0 overwrites `input of stage 1` without waiting until it is read
  = from rank 1, action 4: forward, stage 1, microbatch 0
  = to   rank 1, action 5: receive forward from rank 0, stage 1, microbatch 0

error[M0301]: backward, stage 1, microbatch 0 reads `input of stage 1` without waiting until it is written
  = from rank 1, action 5: receive forward from rank 0, stage 1, microbatch 0
  = to   rank 1, action 8: backward, stage 1, microbatch 0
)");
}

TEST(S2, AMicrobatchTakesTheGradientOfAnother) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.action(1, "send backward to rank 0, stage 1, microbatch 0").microbatch = 1;
        draft.action(0, "receive backward from rank 1, stage 0, microbatch 0").microbatch = 1;
      }),
      R"(error[S0201]: backward, stage 0, microbatch 0 needs the input_gradient of backward or the input_gradient of backward_input, stage 1, microbatch 0, but nothing has been written to `output_gradient of stage 0`
  = to   rank 0, action 11: backward, stage 0, microbatch 0

error[M0302]: receive backward from rank 1, stage 0, microbatch 1 overwrites `output_gradient of stage 0` without waiting until it is read
  = from rank 0, action 13: backward, stage 0, microbatch 1
  = to   rank 0, action 10: receive backward from rank 1, stage 0, microbatch 1

error[M0303]: backward, stage 1, microbatch 1 overwrites `input_gradient of stage 1` without waiting until it is sent
  = from rank 1, action 9: send backward to rank 0, stage 1, microbatch 1
  = to   rank 1, action 12: backward, stage 1, microbatch 1
)");
}

TEST(S2, ALossOnLabelsOfTheLastStep) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.swap(1, "receive data from rank 0, labels", "loss, stage 1, microbatch 0");
      }),
      R"(error[S0201]: loss, stage 1, microbatch 0 needs the labels of load, but nothing has been written to `labels`
  = to   rank 1, action 3: loss, stage 1, microbatch 0

error[S0201]: loss, stage 1, microbatch 0 needs the stash of forward, stage 1, microbatch 0, but nothing has been written to `stash of stage 1`
  = to   rank 1, action 3: loss, stage 1, microbatch 0

error[S0202]: backward, stage 1, microbatch 0 needs the stash of loss, stage 1, microbatch 0, but `stash of stage 1` holds the stash of forward, stage 1, microbatch 0
  = from rank 1, action 5: forward, stage 1, microbatch 0
  = to   rank 1, action 8: backward, stage 1, microbatch 0

error[C0205]: message 0 of channel `rank 0 → rank 1, data` has time 5 on rank 0 and time 9 on rank 1
  = from rank 0, action 5: send data to rank 1, labels
  = to   rank 1, action 6: receive data from rank 0, labels

error[C0207]: 2 ranks wait for each other in a circle
  = note: rank 0 stops at action 5, send data to rank 1, labels; it needs action 6 of rank 1, receive data from rank 0, labels
  = note: rank 1 stops at action 4, receive forward from rank 0, stage 1, microbatch 0; it needs action 7 of rank 0, send forward to rank 1, stage 0, microbatch 0

error[M0301]: loss, stage 1, microbatch 0 reads `header` without waiting until it is written
  = from rank 1, action 1: broadcast `step`
  = to   rank 1, action 3: loss, stage 1, microbatch 0

error[M0301]: loss, stage 1, microbatch 0 reads `segments` without waiting until it is written
  = from rank 1, action 2: broadcast `segments`
  = to   rank 1, action 3: loss, stage 1, microbatch 0

error[M0302]: receive data from rank 0, labels overwrites `labels` without waiting until it is read
  = from rank 1, action 3: loss, stage 1, microbatch 0
  = to   rank 1, action 6: receive data from rank 0, labels

error[M0301]: loss, stage 1, microbatch 1 reads `labels` without waiting until it is written
  = from rank 1, action 6: receive data from rank 0, labels
  = to   rank 1, action 11: loss, stage 1, microbatch 1
)");
}

TEST(S2, NoGradientFromBehind) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.plan.programs[0]
            .operands[draft.action(0, "backward, stage 0, microbatch 1").operands + 2] = kNoBuffer;
      }),
      R"(error[S0204]: backward, stage 0, microbatch 1 has no `output_gradient`, though it is not on the last stage
  = to   rank 0, action 13: backward, stage 0, microbatch 1
)");
}

TEST(S2, AMessageThatMovesHalfOfItsBuffer) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.lane(0, "channel `rank 0 → rank 1, data`").message.fixed = 32;
        draft.lane(1, "channel `rank 0 → rank 1, data`").message.fixed = 32;
      }),
      R"(error[S0201]: loss, stage 1, microbatch 1 needs the labels of load, but nothing has been written to `labels`
  = to   rank 1, action 11: loss, stage 1, microbatch 1
)");
}

TEST(S3, AStageOnTwoRanks) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.programs[1].stages[0].stage = 0; }),
            R"(error[S0320]: stage 0 is on rank 0 and again on rank 1

error[S0321]: stage 1 is on no rank
)");
}

TEST(S3, AnUnknownOpcode) {
  EXPECT_EQ(broken([](Draft &draft) { draft.action(0, "clip").opcode = 0x0999; }),
            R"(error[S0311]: action 17 of rank 0 has unknown opcode 0x0999
  = from rank 0, action 17: unknown action 2457
)");
}

TEST(S3, AMicrobatchTooMany) {
  EXPECT_EQ(broken([](Draft &draft) {
              draft.action(0, "forward, stage 0, microbatch 1").microbatch = 2;
            }),
            R"(error[S0314]: forward is for microbatch 2 of a step with 2
  = from rank 0, action 8: forward, stage 0, microbatch 2
)");
}

TEST(S3, AChannelToTheRankItself) {
  EXPECT_EQ(broken([](Draft &draft) {
              draft.lane(0, "channel `rank 0 → rank 1, forward`").peer.value = 0;
            }),
            R"(error[S0307]: lane 2 of rank 0 leads back to the rank itself
)");
}

TEST(S3, ABufferThatIsNotThere) {
  EXPECT_EQ(broken([](Draft &draft) {
              draft.plan.programs[0].operands[draft.action(0, "clip").operands] = 99;
            }),
            R"(error[S0318]: operand `all_squares` of clip is buffer 99 of a rank with 17
  = from rank 0, action 17: clip
)");
}

TEST(S3, GradientsTooSmallForTheirTask) {
  EXPECT_EQ(
      broken([](Draft &draft) { draft.buffer(0, "gradients of stage 0").bytes = 1; }),
      R"(error[S0322]: rank 0: action 11 (backward, stage 0, microbatch 0) cannot take gradients of stage 0 as its `gradients`
)");
}

TEST(S4, WeightGradientsInDescendingOrder) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.action(0, "backward, stage 0, microbatch 0").immediate = 0;
        draft.action(0, "backward, stage 0, microbatch 1").immediate = kOverwriteGradients;
        draft.swap(0, "backward, stage 0, microbatch 0", "backward, stage 0, microbatch 1");
      }),
      R"(error[S0201]: backward, stage 0, microbatch 1 needs the input_gradient of backward or the input_gradient of backward_input, stage 1, microbatch 1, but nothing has been written to `output_gradient of stage 0`
  = to   rank 0, action 11: backward, stage 0, microbatch 1

error[S0401]: backward, stage 0, microbatch 0 adds the weight gradient of microbatch 0 after that of microbatch 1
  = from rank 0, action 11: backward, stage 0, microbatch 1
  = to   rank 0, action 13: backward, stage 0, microbatch 0

error[M0302]: receive backward from rank 1, stage 0, microbatch 1 overwrites `output_gradient of stage 0` without waiting until it is read
  = from rank 0, action 11: backward, stage 0, microbatch 1
  = to   rank 0, action 12: receive backward from rank 1, stage 0, microbatch 1

error[M0302]: receive backward from rank 1, stage 0, microbatch 0 overwrites `output_gradient of stage 0` without waiting until it is read
  = from rank 0, action 13: backward, stage 0, microbatch 0
  = to   rank 0, action 10: receive backward from rank 1, stage 0, microbatch 0
)");
}

TEST(S4, TheFirstWeightGradientAdds) {
  EXPECT_EQ(
      broken(
          [](Draft &draft) { draft.action(0, "backward, stage 0, microbatch 0").immediate = 0; }),
      R"(error[S0402]: backward, stage 0, microbatch 0 is the first weight gradient of the stage in a step, but adds to those of the last step
  = to   rank 0, action 11: backward, stage 0, microbatch 0
)");
}

TEST(S4, ALaterWeightGradientOverwrites) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.action(0, "backward, stage 0, microbatch 1").immediate = kOverwriteGradients;
      }),
      R"(error[S0403]: backward, stage 0, microbatch 1 overwrites the weight gradients before it
  = from rank 0, action 11: backward, stage 0, microbatch 0
  = to   rank 0, action 13: backward, stage 0, microbatch 1
)");
}

TEST(S4, GradientsAreNeverScaled) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.action(0, "scale_gradients, stage 0").opcode = code(Opcode::SquareNorm);
        draft.plan.programs[0].operands[draft.action(0, "square_norm, stage 0").operands] =
            draft.bufferIndex(0, "gradients of stage 0");
        draft.plan.programs[0].operands[draft.action(0, "square_norm, stage 0").operands + 1] =
            draft.bufferIndex(0, "squares");
      }),
      R"(error[S0202]: square_norm, stage 0 needs the gradients of scale_gradients, stage 0, but `gradients of stage 0` holds the gradients of backward, stage 0, microbatch 1
  = from rank 0, action 13: backward, stage 0, microbatch 1
  = to   rank 0, action 14: square_norm, stage 0

error[S0406]: square_norm, stage 0 takes squares of the gradients before they are scaled
  = from rank 0, action 13: backward, stage 0, microbatch 1
  = to   rank 0, action 14: square_norm, stage 0

error[S0406]: square_norm, stage 0 takes squares of the gradients a second time
  = from rank 0, action 14: square_norm, stage 0
  = to   rank 0, action 15: square_norm, stage 0
)");
}

TEST(S4, TheOptimizerRunsBeforeClip) {
  EXPECT_EQ(
      broken([](Draft &draft) { draft.swap(0, "clip", "optimize, stage 0"); }),
      R"(error[S0201]: optimize, stage 0 needs the scalars of clip, but nothing has been written to `scalars`
  = to   rank 0, action 17: optimize, stage 0

error[S0409]: optimize, stage 0 runs before `clip` of the same step
  = from rank 0, action 15: square_norm, stage 0
  = to   rank 0, action 17: optimize, stage 0
)");
}

TEST(C1, ChannelsThatDoNotMeet) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.lane(1, "channel `rank 0 → rank 1, forward`").flow = Flow::Weights;
      }),
      R"(error[C0101]: channel `rank 0 → rank 1, forward` has 2 sends and 0 receives in an iteration of loop 0
  = from rank 0, action 9: send forward to rank 1, stage 0, microbatch 1

error[C0101]: channel `rank 0 → rank 1, weights` has 0 sends and 2 receives in an iteration of loop 0
  = to   rank 1, action 7: receive weights from rank 0, stage 1, microbatch 1
)");
}

TEST(C1, ASendTooMany) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.remove(1, "receive forward from rank 0, stage 1, microbatch 1");
      }),
      R"(error[S0201]: forward, stage 1, microbatch 1 needs the output of forward, stage 0, microbatch 1, but nothing has been written to `input of stage 1`
  = to   rank 1, action 9: forward, stage 1, microbatch 1

error[C0101]: channel `rank 0 → rank 1, forward` has 2 sends and 1 receives in an iteration of loop 0
  = from rank 0, action 9: send forward to rank 1, stage 0, microbatch 1
  = to   rank 1, action 4: receive forward from rank 0, stage 1, microbatch 0
)");
}

TEST(C1, AnotherTypeAtEachEnd) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.lane(1, "channel `rank 0 → rank 1, forward`").message.type = DataType::BFloat16;
      }),
      R"(error[C0102]: channel `rank 0 → rank 1, forward` is sent as 32 bytes of float32 per token and received as 32 bytes of bfloat16 per token
  = from rank 0, action 7: send forward to rank 1, stage 0, microbatch 0
  = to   rank 1, action 4: receive forward from rank 0, stage 1, microbatch 0
)");
}

TEST(C1, AnotherSizeAtEachEnd) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.lane(1, "channel `rank 0 → rank 1, forward`").message.perToken = 16;
      }),
      R"(error[C0102]: channel `rank 0 → rank 1, forward` is sent as 32 bytes of float32 per token and received as 16 bytes of float32 per token
  = from rank 0, action 7: send forward to rank 1, stage 0, microbatch 0
  = to   rank 1, action 4: receive forward from rank 0, stage 1, microbatch 0
)");
}

TEST(C1, AMessageLargerThanItsBuffer) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        for (const std::uint32_t rank : {0, 1})
          draft.lane(rank, "channel `rank 0 → rank 1, forward`").message.perToken = 48;
      }),
      R"(error[C0107]: message 0 of channel `rank 0 → rank 1, forward` of up to 384 bytes is sent from `output` of 256 bytes
  = from rank 0, action 7: send forward to rank 1, stage 0, microbatch 0
  = to   rank 1, action 4: receive forward from rank 0, stage 1, microbatch 0
)");
}

TEST(C1, TheSameMessageOfTwoMicrobatches) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.action(0, "send forward to rank 1, stage 0, microbatch 1").microbatch = 0;
      }),
      R"(error[S0202]: forward, stage 1, microbatch 1 needs the output of forward, stage 0, microbatch 1, but `input of stage 1` holds the output of forward, stage 0, microbatch 0
  = from rank 1, action 7: receive forward from rank 0, stage 1, microbatch 1
  = to   rank 1, action 10: forward, stage 1, microbatch 1

error[C0103]: message 1 of channel `rank 0 → rank 1, forward` of microbatch 0 is received as microbatch 1
  = from rank 0, action 9: send forward to rank 1, stage 0, microbatch 0
  = to   rank 1, action 7: receive forward from rank 0, stage 1, microbatch 1

error[M0303]: forward, stage 0, microbatch 0 overwrites `output of stage 0` without waiting until it is sent
  = from rank 0, action 9: send forward to rank 1, stage 0, microbatch 0
  = to   rank 0, action 6: forward, stage 0, microbatch 0
)");
}

TEST(C2, AnActionDispatchedBeforeItsTime) {
  EXPECT_EQ(
      broken([](Draft &draft) { draft.action(0, "forward, stage 0, microbatch 1").time = 6; }),
      R"(error[C0202]: rank 0 dispatches an action at time 7 after one at time 7
  = from rank 0, action 7: send forward to rank 1, stage 0, microbatch 0
  = to   rank 0, action 8: forward, stage 0, microbatch 1
)");
}

TEST(C2, TwoTimesForOneMessage) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.action(0, "send forward to rank 1, stage 0, microbatch 1").time = 8;
      }),
      R"(error[C0205]: message 1 of channel `rank 0 → rank 1, forward` has time 9 on rank 0 and time 10 on rank 1
  = from rank 0, action 9: send forward to rank 1, stage 0, microbatch 1
  = to   rank 1, action 7: receive forward from rank 0, stage 1, microbatch 1
)");
}

TEST(C2, TwoTimesForOneCall) {
  EXPECT_EQ(broken([](Draft &draft) { draft.action(1, "gather `stats`").time = 25; }),
            R"(error[C0206]: call 0 of group `stats` has time 25 on rank 0 and time 26 on rank 1
  = from rank 0, action 21: gather `stats`
  = to   rank 1, action 21: gather `stats`
)");
}

TEST(C2, ALoopThatDoesNotFitItsPeriod) {
  EXPECT_EQ(broken([](Draft &draft) {
              for (Program &program : draft.plan.programs)
                program.loops[0].period = 25;
            }),
            R"(error[C0203]: the body of loop 0 spans 25 ticks on rank 0, its period is 25
  = from rank 0, action 22: report
  = to   rank 0, action 1: decide
)");
}

TEST(C2, LoopsOfDifferentTrips) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.programs[1].loops[0].trips = 2; }),
            R"(error[S0107]: the plan runs 2 steps, the job asks for 3

error[C0201]: rank 0 runs loop 0 × 3 with period 26, rank 1 runs loop 0 × 2 with period 26
)");
}

TEST(C2, AnEpilogueBeforeTheLoopEnds) {
  EXPECT_EQ(broken([](Draft &draft) { draft.action(0, "export_shard, stage 0").time = -1; },
                   {.exportTo = "model"}),
            R"(error[C0204]: rank 0 enters the next segment at time 78, the one before ends at 78
  = from rank 0, action 22: report
  = to   rank 0, action 23: export_shard, stage 0
)");
}

// Rank 0 asks for the gradient of microbatch 0 before it sends what that gradient needs.
TEST(C2, ACircle) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.move(0, "receive backward from rank 1, stage 0, microbatch 0",
                   "send forward to rank 1, stage 0, microbatch 0");
      }),
      R"(error[C0205]: message 0 of channel `rank 0 → rank 1, forward` has time 8 on rank 0 and time 7 on rank 1
  = from rank 0, action 8: send forward to rank 1, stage 0, microbatch 0
  = to   rank 1, action 4: receive forward from rank 0, stage 1, microbatch 0

error[C0205]: message 0 of channel `rank 1 → rank 0, backward` has time 12 on rank 1 and time 7 on rank 0
  = from rank 1, action 9: send backward to rank 0, stage 1, microbatch 0
  = to   rank 0, action 7: receive backward from rank 1, stage 0, microbatch 0

error[C0207]: 2 ranks wait for each other in a circle
  = note: rank 0 stops at action 7, receive backward from rank 1, stage 0, microbatch 0; it needs action 9 of rank 1, send backward to rank 0, stage 1, microbatch 0
  = note: rank 1 stops at action 4, receive forward from rank 0, stage 1, microbatch 0; it needs action 8 of rank 0, send forward to rank 1, stage 0, microbatch 0

error[M0302]: receive backward from rank 1, stage 0, microbatch 0 overwrites `output_gradient of stage 0` without waiting until it is read
  = from rank 0, action 11: backward, stage 0, microbatch 0
  = to   rank 0, action 7: receive backward from rank 1, stage 0, microbatch 0
)");
}

TEST(C3, AMemberMissesACall) {
  EXPECT_EQ(
      broken([](Draft &draft) { draft.remove(1, "all_gather `norm`"); }),
      R"(error[S0201]: clip needs the destination of all_gather, but nothing has been written to `all_squares`
  = to   rank 1, action 16: clip

error[S0408]: clip computes the clip factor before the squares are gathered
  = to   rank 1, action 16: clip

error[C0303]: rank 1 calls group `norm` never in an iteration of loop 0, rank 0 once
  = from rank 0, action 16: all_gather `norm`
)");
}

TEST(C3, AMemberWithoutALane) {
  EXPECT_EQ(broken([](Draft &draft) { draft.lane(1, "group `norm`").group = 3; }),
            R"(error[C0301]: rank 1 is a member of group `norm`, but has no lane for it

error[C0302]: rank 1 has 2 lanes for group `stats`: its calls have no one order
)");
}

TEST(C3, AnotherOperationThanTheGroups) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.groups[3].operation = Collective::AllGather; }),
            R"(error[C0304]: gather is called on group `stats`, which is for all_gather
  = from rank 0, action 21: gather `stats`

error[C0304]: gather is called on group `stats`, which is for all_gather
  = from rank 1, action 21: gather `stats`
)");
}

TEST(C3, MoreThanABufferHolds) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.groups[3].message.fixed = 72; }),
            R"(error[C0305]: group `stats` moves 72 bytes from `stats` of 64 bytes
  = from rank 0, action 21: gather `stats`

error[C0305]: group `stats` moves 72 bytes from `stats` of 64 bytes
  = from rank 1, action 21: gather `stats`
)");
}

TEST(C3, MembersGiveDifferentThings) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        Action &gather = draft.action(1, "gather `stats`");
        draft.plan.programs[1].operands[gather.operands] = draft.bufferIndex(1, "header");
      }),
      R"(error[S0202]: gather `stats` needs the stats of measure or the stats of export_shard or the destination of gather, but `header` holds the header of load
  = from rank 1, action 1: broadcast `step`
  = to   rank 1, action 21: gather `stats`

error[C0305]: group `stats` moves 64 bytes from `header` of 56 bytes
  = from rank 1, action 21: gather `stats`

error[C0307]: call 0 of group `stats` moves `stats` on rank 0 and `header` on rank 1
  = from rank 0, action 21: gather `stats`
  = to   rank 1, action 21: gather `stats`

error[M0302]: broadcast `step` overwrites `header` without waiting until it is read
  = from rank 1, action 21: gather `stats`
  = to   rank 1, action 1: broadcast `step`
)");
}

TEST(M1, AnArenaLargerThanItsBuffers) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.layouts[0].arena[0] += 64; }),
            R"(error[M0101]: the device arena of rank 0 has 2496 bytes, its buffers end at 2432
)");
}

TEST(M1, ABufferOutsideOfTheArena) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.layouts[0].arena[0] -= 64; }),
            R"(error[M0102]: `workspace` of rank 0 lies outside of its arena of 2368 bytes
)");
}

TEST(M1, MoreThanTheLimit) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.limits.memoryBytes = 2200; }),
            R"(error[M0104]: rank 0 needs 2432 bytes, the limit is 2200
  = note: device: 2.38 KiB, most alive at action 11, backward, stage 0, microbatch 0
  = note: 512 B: output of stage 0, 0 of 2 slots alive
  = note: 512 B: output_gradient of stage 0, 1 of 2 slots alive
  = note: 128 B: all_stats, 0 of 1 slots alive
  = note: 128 B: moments of stage 0, 1 of 1 slots alive
  = note: 128 B: stash of stage 0, 2 of 2 slots alive
  = note: 96 B: tokens, 2 of 2 slots alive
  = note: 96 B: labels, 0 of 2 slots alive
  = note: 72 B: segments, 2 of 2 slots alive
  = note: and 9 smaller parts
)");
}

TEST(M1, SlotsThatOverlap) {
  EXPECT_EQ(
      broken([](Draft &draft) { draft.buffer(0, "output of stage 0").stride = 128; }),
      R"(error[M0103]: slots of `output of stage 0` of rank 0 have 256 bytes and stand 128 apart
)");
}

TEST(M2, TwoBuffersAliveInTheSameBytes) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.buffer(0, "losses").offset = draft.buffer(0, "header").offset;
      }),
      R"(error[M0201]: receive metrics from rank 1, losses uses `losses` without waiting for the last use of `header` in the same bytes
  = from rank 0, action 18: optimize, stage 0
  = to   rank 0, action 19: receive metrics from rank 1, losses

error[M0201]: receive metrics from rank 1, losses uses `losses` without waiting for the last use of `segments` in the same bytes
  = from rank 0, action 11: backward, stage 0, microbatch 0
  = to   rank 0, action 19: receive metrics from rank 1, losses

error[M0202]: measure reads `header`, which `losses` in the same bytes has overwritten
  = from rank 0, action 19: receive metrics from rank 1, losses
  = to   rank 0, action 20: measure
)");
}

// All squares are gathered when the gradients have been sent, but nobody waits for that.
TEST(M2, TwoBuffersInTheSameBytesWithoutAWait) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.buffer(1, "all_squares").offset = draft.buffer(1, "input_gradient of stage 1").offset;
      }),
      R"(error[M0201]: all_gather `norm` uses `all_squares` without waiting for the last use of `input_gradient of stage 1` in the same bytes
  = from rank 1, action 9: send backward to rank 0, stage 1, microbatch 0
  = to   rank 1, action 16: all_gather `norm`
)");
}

TEST(M3, AReadWithoutItsReceive) {
  EXPECT_EQ(
      broken([](Draft &draft) { draft.action(1, "loss, stage 1, microbatch 0").waits[0] = {}; }),
      R"(error[M0301]: loss, stage 1, microbatch 0 reads `labels` without waiting until it is written
  = from rank 1, action 3: receive data from rank 0, labels
  = to   rank 1, action 6: loss, stage 1, microbatch 0

error[M0301]: loss, stage 1, microbatch 1 reads `labels` without waiting until it is written
  = from rank 1, action 3: receive data from rank 0, labels
  = to   rank 1, action 11: loss, stage 1, microbatch 1
)");
}

// Over the edge of the loop: the reader is the backward of the step before.
TEST(M3, AReceiveIntoASlotThatIsStillRead) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.action(0, "receive backward from rank 1, stage 0, microbatch 0").waits[0] = {};
      }),
      R"(error[M0302]: receive backward from rank 1, stage 0, microbatch 0 overwrites `output_gradient of stage 0` without waiting until it is read
  = from rank 0, action 11: backward, stage 0, microbatch 0
  = to   rank 0, action 10: receive backward from rank 1, stage 0, microbatch 0
)");
}

// Over the edge of the loop: the send is of the step before.
TEST(M3, ASentBufferIsReusedInTheNextStep) {
  EXPECT_EQ(
      broken([](Draft &draft) { draft.action(0, "forward, stage 0, microbatch 0").waits[1] = {}; }),
      R"(error[M0303]: forward, stage 0, microbatch 0 overwrites `output of stage 0` without waiting until it is sent
  = from rank 0, action 7: send forward to rank 1, stage 0, microbatch 0
  = to   rank 0, action 6: forward, stage 0, microbatch 0
)");
}

TEST(M3, ARingTooShort) {
  EXPECT_EQ(
      broken([](Draft &draft) { draft.buffer(0, "stash of stage 0").count = 1; }),
      R"(error[M0305]: microbatch 0 of `stash of stage 0` is overwritten by microbatch 1 before its last use: 1 slot is too few
  = from rank 0, action 8: forward, stage 0, microbatch 1
  = to   rank 0, action 11: backward, stage 0, microbatch 0
)");
}

TEST(M3, AnActionThatOverwritesItsInput) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.plan.programs[0].operands[draft.action(0, "clip").operands + 1] =
            draft.bufferIndex(0, "all_squares");
      }),
      R"(error[S0201]: optimize, stage 0 needs the scalars of clip, but nothing has been written to `scalars`
  = to   rank 0, action 18: optimize, stage 0

error[M0306]: clip writes `all_squares`, which is also another operand of it
  = from rank 0, action 17: clip
)");
}

} // namespace
} // namespace vime
