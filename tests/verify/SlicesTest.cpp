// Slices: plans that run the slices of samples in another order than attention needs, or keep too
// few of their keys and values, and the codes that say so.
//
// Each starts from a plan of the lowering: `seq1f1b` on 2 ranks with 2 slices, so that microbatches
// 2 and 3 are the slices of the second one of the job.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Slices.h"
#include "tests/lowering/Lowered.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;

JobShape sliced(std::uint32_t slices = 2, std::uint32_t microbatches = 4) {
  return {.schedule = "seq1f1b", .microbatches = microbatches, .layers = 4, .slices = slices};
}

std::string judgedAfter(const std::function<void(Plan &)> &change) {
  Plan plan = lowered(sliced());
  change(plan);
  return judged(plan);
}

Action &actionOf(Plan &plan, std::uint32_t rank, std::string_view description) {
  return plan.programs[rank].actions[indexOfAction(plan, rank, description)];
}

/// Times stay where they are.
void swap(Plan &plan, std::uint32_t rank, std::string_view one, std::string_view other) {
  Action &first = actionOf(plan, rank, one), &second = actionOf(plan, rank, other);
  std::swap(first, second);
  std::swap(first.time, second.time);
}

Buffer &bufferOf(Plan &plan, std::uint32_t rank, BufferKind kind) {
  auto &buffers = plan.layouts[rank].buffers;
  return *std::ranges::find(buffers, kind, &Buffer::kind);
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Slices, AreProved) {
  for (const std::uint32_t slices : {2, 4, 8})
    for (const std::uint32_t ranks : {1, 2, 4}) {
      JobShape shape = sliced(slices);
      shape.ranks = ranks;
      shape.evaluates = 3;
      shape.exportTo = "out";
      shape.saves = 2;
      EXPECT_EQ(judged(lowered(shape)), "") << slices << " slices on " << ranks;
      shape.replicas = 3;
      EXPECT_EQ(judged(lowered(shape)), "") << slices << " slices on " << ranks << ", dp 3";
    }
}

// A loop goes on by whole samples, so that every trip uses the shared slots alike.
TEST(Slices, AreFolded) {
  for (const std::uint32_t slices : {2, 4}) {
    const Plan plan = lowered(sliced(slices, 64));
    EXPECT_EQ(judged(plan), "") << slices;
    for (const Program &program : plan.programs) {
      ASSERT_EQ(program.loops.size(), 2u) << slices;
      for (std::uint32_t index = program.loops[1].begin; index < program.loops[1].end; ++index)
        EXPECT_EQ(program.actions[index].step % slices, 0u) << slices;
    }
  }
  JobShape shortened = sliced(2, 32);
  shortened.family = {12, 40, 64};
  EXPECT_EQ(judged(lowered(shortened)), "");
}

// What the slices of a microbatch share lies there once, however many there are.
TEST(Slices, ShareOneSlotOfTheirMicrobatch) {
  for (const std::uint32_t slices : {1, 2, 4}) {
    Plan plan = lowered(sliced(slices, 8));
    const Buffer &stash = bufferOf(plan, 0, BufferKind::Stash);
    if (slices == 1) {
      EXPECT_EQ(stash.count, 2u); // 1f1b on the first of two ranks
      EXPECT_TRUE(std::ranges::none_of(plan.layouts[0].buffers, [](const Buffer &buffer) {
        return buffer.kind == BufferKind::Context;
      }));
      continue;
    }
    EXPECT_EQ(bufferOf(plan, 0, BufferKind::Context).count, 2u) << slices;
    EXPECT_EQ(bufferOf(plan, 0, BufferKind::ContextGradients).count, 1u) << slices;
    // keys and values of 2 samples of 8 tokens, 16 wide, in each of 2 layers
    EXPECT_EQ(bufferOf(plan, 0, BufferKind::Context).bytes, 2u * 8 * 2 * 16 * 4 * 2) << slices;
  }
}

TEST(Slices, ALaterOneDoesNotRunBeforeAnEarlierOne) {
  const std::string text = judgedAfter([](Plan &plan) {
    swap(plan, 0, "forward, stage 0, microbatch 0", "forward, stage 0, microbatch 1");
  });
  EXPECT_TRUE(contains(text, "error[S0201]: forward, stage 0, microbatch 1 needs the "
                             "context of forward, stage 0, microbatch 0, but nothing has been "
                             "written to `context of stage 0`"))
      << text;
}

TEST(Slices, ABackwardNeedsThoseOfLaterOnes) {
  const std::string text = judgedAfter([](Plan &plan) {
    swap(plan, 0, "backward, stage 0, microbatch 1", "backward, stage 0, microbatch 0");
  });
  EXPECT_TRUE(contains(text, "backward, stage 0, microbatch 0 needs the context_gradients of "
                             "backward or the context_gradients of backward_input, stage 0, "
                             "microbatch 1, but nothing has been written to `context_gradients of "
                             "stage 0`"))
      << text;
}

// The second microbatch begins while the first one's backward still needs its keys and values.
TEST(Slices, AContextStaysUntilTheFirstSliceIsBack) {
  const std::string text =
      judgedAfter([](Plan &plan) { bufferOf(plan, 0, BufferKind::Context).count = 1; });
  EXPECT_TRUE(contains(text, "error[M0305]: microbatch 1 of `context of stage 0` is overwritten by "
                             "microbatch 2 before its last use: 1 slot is too few"))
      << text;
}

TEST(Slices, EachRunsOnce) {
  const std::string text = judgedAfter(
      [](Plan &plan) { actionOf(plan, 1, "forward, stage 1, microbatch 3").microbatch = 2; });
  EXPECT_TRUE(contains(text, "S0102") || contains(text, "S0101")) << text;
}

TEST(Slices, ATaskHasItsContext) {
  const std::string text = judgedAfter([](Plan &plan) {
    for (std::uint32_t &operand : plan.programs[0].operands)
      if (operand != kNoBuffer && isShared(plan.layouts[0].buffers[operand].kind))
        operand = kNoBuffer;
  });
  EXPECT_TRUE(contains(text, "error[S0322]")) << text;
}

TEST(Slices, APassHasAllOfThem) {
  const std::string text = judgedAfter([](Plan &plan) { plan.data.slices = 3; });
  EXPECT_TRUE(contains(text, "error[S0324]: samples of 8 tokens are cut into 3 slices")) << text;
  const std::string other = judgedAfter([](Plan &plan) { plan.data.microbatches = 7; });
  EXPECT_TRUE(
      contains(other, "error[S0324]: a pass of 7 microbatches lacks some of their 2 slices"))
      << other;
}

// The reader of plans knows what slices are.
TEST(Slices, AreWholeAndAlike) {
  const auto messageAfter = [](const std::function<void(Plan &)> &change) {
    Plan plan = lowered(sliced());
    EXPECT_TRUE(checkPlan(plan).ok()) << checkPlan(plan).message();
    change(plan);
    return checkPlan(plan).message();
  };
  EXPECT_EQ(messageAfter([](Plan &plan) { plan.data.split = Split::Line; }),
            "slices of samples: 2 of 8 tokens");
  EXPECT_EQ(messageAfter([](Plan &plan) { plan.data.microbatches = 9; }),
            "a pass of microbatches that lack some of their 2 slices");
}

} // namespace
} // namespace vime
