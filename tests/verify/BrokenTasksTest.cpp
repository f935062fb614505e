// Plans that break S: tasks, dependences, places, gradients.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/verify/Broken.h"

namespace vime {
namespace {

using namespace plan;

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
              report.operands = draft.action(0, "decide").operands;
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

} // namespace
} // namespace vime
