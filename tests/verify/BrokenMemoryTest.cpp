// Plans that break M: arenas, shared bytes, buffers.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/verify/Broken.h"

namespace vime {
namespace {

using namespace plan;

TEST(M1, AnArenaLargerThanItsBuffers) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.layouts[0].arena[0] += 64; }),
            R"(error[M0101]: the device arena of rank 0 has 4288 bytes, its buffers end at 4224
)");
}

TEST(M1, ABufferOutsideOfTheArena) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.layouts[0].arena[0] -= 64; }),
            R"(error[M0102]: `workspace` of rank 0 lies outside of its arena of 4160 bytes
)");
}

TEST(M1, MoreThanTheLimit) {
  EXPECT_EQ(broken([](Draft &draft) { draft.plan.limits.memoryBytes = 3800; }),
            R"(error[M0104]: rank 0 needs 4224 bytes (4.13 KiB), the limit is 3800 (3.72 KiB)
  = note: device: 4.13 KiB, most alive at action 17, clip
  = note: 1.13 KiB: all_squares, 1 of 1 slots alive
  = note: 576 B: squares, 1 of 1 slots alive
  = note: 512 B: output of stage 0, 0 of 2 slots alive
  = note: 512 B: output_gradient of stage 0, 0 of 2 slots alive
  = note: 192 B: all_stats, 0 of 1 slots alive
  = note: 128 B: moments of stage 0, 1 of 1 slots alive
  = note: 128 B: stash of stage 0, 0 of 2 slots alive
  = note: 96 B: tokens, 0 of 2 slots alive
  = note: and 9 smaller parts

error[M0104]: rank 1 needs 3840 bytes (3.75 KiB), the limit is 3800 (3.72 KiB)
  = note: device: 3.75 KiB, most alive at action 17, clip
  = note: 1.13 KiB: all_squares, 1 of 1 slots alive
  = note: 576 B: squares, 1 of 1 slots alive
  = note: 512 B: input of stage 1, 0 of 2 slots alive
  = note: 512 B: input_gradient of stage 1, 0 of 2 slots alive
  = note: 128 B: moments of stage 1, 1 of 1 slots alive
  = note: 96 B: labels, 0 of 2 slots alive
  = note: 96 B: stats, 1 of 1 slots alive
  = note: 80 B: header, 1 of 1 slots alive
  = note: and 7 smaller parts
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

error[M0202]: measure reads `header`, which `losses` in the same bytes has overwritten
  = from rank 0, action 19: receive metrics from rank 1, losses
  = to   rank 0, action 20: measure
)");
}

// All squares are gathered when the gradients have been sent, but nobody waits for that.
TEST(M2, TwoBuffersInTheSameBytesWithoutAWait) {
  EXPECT_EQ(
      broken([](Draft &draft) {
        draft.buffer(1, "input_gradient of stage 1").offset = draft.buffer(1, "all_squares").offset;
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

error[S0201]: report needs the scalars of clip, but nothing has been written to `scalars`
  = to   rank 0, action 22: report

error[M0306]: clip writes `all_squares`, which is also another operand of it
  = from rank 0, action 17: clip
)");
}

} // namespace
} // namespace vime
