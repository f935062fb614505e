// Plans that break C: channels, the clock, groups.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/verify/Broken.h"

namespace vime {
namespace {

using namespace plan;

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
            R"(error[S0205]: all_gather `stats` takes only 96 of the 576 bytes of `squares`
  = from rank 1, action 15: square_norm, stage 1
  = to   rank 1, action 16: all_gather `stats`

error[S0205]: all_gather `stats` fills only 192 of the 1152 bytes of `all_squares`
  = to   rank 1, action 16: all_gather `stats`

error[C0301]: rank 1 is a member of group `norm`, but has no lane for it

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
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.groups[3].message.fixed = 104; }),
            R"(error[C0305]: group `stats` moves 104 bytes from `stats` of 96 bytes
  = from rank 0, action 21: gather `stats`

error[C0305]: group `stats` moves 104 bytes from `stats` of 96 bytes
  = from rank 1, action 21: gather `stats`
)");
}

TEST(C3, MembersGiveDifferentThings) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        Action &gather = draft.action(1, "gather `stats`");
        draft.plan.programs[1].operands[gather.operands] = draft.bufferIndex(1, "header");
      }),
      R"(error[S0202]: gather `stats` needs the stats of measure or the stats of measure_evaluation or the stats of export_shard or the destination of gather, but `header` holds the header of load
  = from rank 1, action 1: broadcast `step`
  = to   rank 1, action 21: gather `stats`

error[C0305]: group `stats` moves 96 bytes from `header` of 80 bytes
  = from rank 1, action 21: gather `stats`

error[C0307]: call 0 of group `stats` moves `stats` on rank 0 and `header` on rank 1
  = from rank 0, action 21: gather `stats`
  = to   rank 1, action 21: gather `stats`

error[M0302]: broadcast `step` overwrites `header` without waiting until it is read
  = from rank 1, action 21: gather `stats`
  = to   rank 1, action 1: broadcast `step`
)");
}

} // namespace
} // namespace vime
