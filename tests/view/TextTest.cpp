// The text form: readable, and nothing of the plan is missing from it.
#include <cstring>

#include <gtest/gtest.h>

#include "compiler/View/PlanText.h"
#include "compiler/View/PlanTextReader.h"
#include "runtime/Plan/PlanFile.h"
#include "tests/plan/ForgedFile.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;

/// From one text to before another, or the end.
std::string linesWith(const std::string &text, std::string_view from, std::string_view to) {
  const std::string lines = "\n" + text;
  const std::size_t begin = lines.find("\n" + std::string(from));
  return lines.substr(begin, lines.find(to, begin) - begin);
}

TEST(PlanText, Head) {
  EXPECT_EQ(linesWith(planText(smallPlan()), "plan 1 ", "\nprogram 0"), R"(
plan 1 # id a4bb61c918a6b93b68f588fdfc3c8745
compiler "0.1.0"
schedule "1f1b"
mesh pp 2 dp 1 cp 1 tp 1
run name "small" steps 3 seed 7 export_to ""
data text "text.txt" text_bytes 4096 text_hash 00000000000000020000000000000001 sequence 8 samples 1 tokens 8 microbatches 2 batch 2 split window tail join
optimizer learning_rate 0.001 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.01 clip 1 warmup 0 decay constant floor 0
limits connect_seconds 300 transfer_seconds 600 memory_bytes 0
predictions step_units 9 bubble 0.3333333333333333 peak_live 2 costs "as long as stages sleep" step_seconds 0.25 expected_bubble 0.125
model 0 family null type float32 layers 2 hidden 8 heads 0 kv_heads 0 head_width 0 ffn 0 vocab 0 rope_theta 10000 norm_epsilon 1e-05 tied_head 0 recomputes_layers 0 kernels native forward_seconds 0 backward_input_seconds 0 backward_weight_seconds 0 checkpoint ""
part 0 of model 0 layers 0 to 1 embedding
part 1 of model 0 layers 1 to 2 head
group 0 name "step" flow control operation broadcast axes pp root 0 type byte fixed 80 per_token 0
group 1 name "segments" flow data operation broadcast axes pp root 0 type int32 fixed 72 per_token 0
group 2 name "norm" flow metrics operation all_gather axes pp root 0 type float64 fixed 576 per_token 0
group 3 name "stats" flow metrics operation gather axes pp root 0 type byte fixed 96 per_token 0
rank pp 0 program 0 layout 0
rank pp 1 program 1 layout 1
connect 0-1
origin forward line 2 column 1 length 4 key "name"
job
| version: 1
| name: small
)");
}

TEST(PlanText, Program) {
  EXPECT_EQ(linesWith(planText(smallPlan()), "program 1\n", "action 10 "), R"(
program 1
stage 0 is 1 of model 0
lane 0 compute # compute lane
lane 1 send flow backward peer pp-1 type float32 fixed 0 per_token 32 slots 2 # channel `rank 1 → rank 0, backward`
lane 2 send flow metrics peer pp=0 type float64 fixed 72 per_token 0 slots 1 # channel `rank 1 → rank 0, metrics`
lane 3 receive flow forward peer pp-1 type float32 fixed 0 per_token 32 slots 2 # channel `rank 0 → rank 1, forward`
lane 4 receive flow data peer pp=0 type int32 fixed 96 per_token 0 slots 1 # channel `rank 0 → rank 1, data`
lane 5 group 0 # group `step`
lane 6 group 1 # group `segments`
lane 7 group 2 # group `norm`
lane 8 group 3 # group `stats`
loop 0 begin 1 end 22 trips 3 start 1 period 26
action 0 initialize lane 0 time 0 stage 0 operands 0 weights 8 moments 10 gradients - # initialize, stage 1
# loop 0, 3 times
action 1 broadcast lane 5 time 2 flags signalled,host_blocking waits 0:1 operands 3 data 0 # broadcast `step`
action 2 broadcast lane 6 time 3 flags signalled waits 0:1 operands 4 data 1 # broadcast `segments`
action 3 receive lane 4 time 4 microbatch 0 flags signalled waits 0:7 operands 5 destination 2 # receive data from rank 0, labels
action 4 receive lane 3 time 6 microbatch 0 flags signalled waits 0:9 operands 6 destination 11 # receive forward from rank 0, stage 1, microbatch 0
action 5 forward lane 0 time 7 stage 0 microbatch 0 waits 5:1 6:1 3:1 operands 7 header 0 segments 1 input 11 weights 8 stash 13 output - workspace 14 tied_weights - context - # forward, stage 1, microbatch 0
action 6 loss lane 0 time 8 stage 0 microbatch 0 waits 4:1 2:1 operands 16 header 0 segments 1 labels 2 stash 13 losses 3 # loss, stage 1, microbatch 0
action 7 receive lane 3 time 9 microbatch 1 flags signalled waits 0:8 operands 21 destination 11 # receive forward from rank 0, stage 1, microbatch 1
action 8 backward lane 0 time 10 stage 0 microbatch 0 immediate 1 flags signalled waits 1:2 operands 22 header 0 segments 1 output_gradient - input 11 weights 8 stash 13 gradients 9 input_gradient 12 workspace 14 tied_weights - tied_gradients - context - context_gradients - # backward, stage 1, microbatch 0
action 9 send lane 1 time 11 microbatch 0 flags signalled waits 0:1 operands 35 source 12 # send backward to rank 0, stage 1, microbatch 0
)");
}

TEST(PlanText, Layout) {
  EXPECT_EQ(linesWith(planText(smallPlan()), "layout 1\n", "\n\n"), R"(
layout 1
arena device 3840 host 0
buffer 0 header tier device count 1 bytes 80 stride 128 offset 0 # header
buffer 1 segments tier device count 2 bytes 8 stride 64 offset 128 # segments
buffer 2 labels tier device count 2 bytes 32 stride 64 offset 256 # labels
buffer 3 losses tier device count 2 bytes 8 stride 64 offset 384 # losses
buffer 4 scalars tier device count 1 bytes 32 stride 64 offset 512 # scalars
buffer 5 squares tier device count 1 bytes 576 stride 576 offset 576 # squares
buffer 6 all_squares tier device count 1 bytes 1152 stride 1152 offset 1152 # all_squares
buffer 7 stats tier device count 1 bytes 96 stride 128 offset 2304 # stats
buffer 8 weights tier device stage 0 count 1 bytes 64 stride 64 offset 2432 # weights of stage 1
buffer 9 gradients tier device stage 0 count 1 bytes 64 stride 64 offset 2496 # gradients of stage 1
buffer 10 moments tier device stage 0 count 1 bytes 128 stride 128 offset 2560 # moments of stage 1
buffer 11 input tier device stage 0 count 2 bytes 256 stride 256 offset 2688 # input of stage 1
buffer 12 input_gradient tier device stage 0 count 2 bytes 256 stride 256 offset 3200 # input_gradient of stage 1
buffer 13 stash tier device stage 0 count 1 bytes 64 stride 64 offset 3712 # stash of stage 1
buffer 14 workspace tier device count 1 bytes 64 stride 64 offset 3776 # workspace
)");
}

TEST(PlanText, AJobWithoutALastLineEnd) {
  Plan plan = smallPlan();
  plan.job = "a: 1\nb: \"x\"";
  EXPECT_EQ(linesWith(planText(plan), "job\n", "\nprogram 0"), "\njob\n| a: 1\n\\ b: \"x\"\n");
}

TEST(PlanText, WhatNoActionUsesIsThereToo) {
  Plan plan = smallPlan();
  plan.programs[0].operands.push_back(3);
  plan.programs[0].lanes[0].slots = 9;
  plan.programs[0].actions[1].waits = {Wait{}, Wait::on(2, 5)};
  const std::string text = planText(plan);
  const std::size_t entry = plan.programs[0].operands.size() - 1;
  EXPECT_NE(text.find("\npool " + std::to_string(entry) + " 3\n"), text.npos);
  EXPECT_NE(text.find("\nlane 0 compute slots 9 # compute lane\n"), text.npos);
  EXPECT_NE(text.find(" waits - 2:5 "), text.npos);
}

// Complete: whatever a reader takes for another plan reads otherwise, as text and as JSON, and the
// text gives it back.
TEST(PlanText, EveryFieldShows) {
  const Plan plan = smallPlan({.exportTo = "model"});
  const auto withoutComments = [](const std::string &text) {
    std::string bare;
    for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      std::string line = text.substr(begin, end - begin);
      bare += line.substr(0, line.find("# ")) + "\n";
    }
    return bare;
  };
  const std::string text = withoutComments(planText(plan)), json = planJson(plan);
  ForgedFile file = ForgedFile::of(plan);
  std::size_t different = 0;
  for (ForgedPart &part : file.parts)
    for (std::size_t byte = 0; byte < part.bytes.size(); ++byte) {
      part.bytes[byte] ^= 1;
      const StatusOr<Plan> read = parsePlan(file.bytes());
      part.bytes[byte] ^= 1;
      Plan other = plan;
      if (read.ok())
        other = *read;
      other.compiler = plan.compiler; // the forger's
      if (other == plan)
        continue;
      ++different;
      const std::string words = planText(other);
      EXPECT_NE(withoutComments(words), text) << "part " << part.kind << " byte " << byte;
      const StatusOr<Plan> again = parsePlanText(words);
      EXPECT_TRUE(again.ok() && *again == other)
          << "part " << part.kind << " byte " << byte << ' ' << again.status().message();
      EXPECT_NE(planJson(other), json) << "part " << part.kind << " byte " << byte;
    }
  EXPECT_GT(different, 500u);
}

TEST(PlanText, LoopsInLoops) {
  const std::string text = linesWith(planText(foldedPlan()), "program 0", "\nprogram 1");
  std::string edges;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.starts_with("loop") || line.starts_with("# loop") || line.starts_with("# end") ||
        line.starts_with("action 6 ") || line.starts_with("action 8 "))
      edges += line.substr(0, line.find(" lane")) + "\n";
  }
  EXPECT_EQ(edges, R"(loop 0 begin 1 end 21 trips 3 start 1 period 26
loop 7 begin 6 end 8 trips 2 start 5 period 3
# loop 0, 3 times
# loop 7, 2 times
action 6 forward
# end of loop 7
action 8 receive
# end of loop 0
)");
}

} // namespace
} // namespace vime
