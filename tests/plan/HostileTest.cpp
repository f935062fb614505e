// Files whose hashes are right and whose content is not: from a later version, or from somebody who
// means harm.
#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/PlanFile.h"
#include "tests/plan/ForgedFile.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;

/// What the reader of a plan that was changed, then written with right hashes, says.
std::string sentenceAfter(const std::function<void(Plan &)> &change) {
  Plan plan = smallPlan();
  change(plan);
  const StatusOr<Plan> read = parsePlan(serializePlan(plan));
  EXPECT_TRUE(read.ok() || read.status().code() == StatusCode::Unacceptable);
  return read.status().message();
}

struct Change {
  const char *sentence;
  std::function<void(Plan &)> apply;
};

void expectSentences(const std::vector<Change> &changes) {
  for (const Change &change : changes)
    EXPECT_EQ(sentenceAfter(change.apply), change.sentence);
}

TEST(Forged, AForgerThatChangesNothingWritesAPlan) {
  const StatusOr<Plan> read = parsePlan(ForgedFile::of(smallPlan()).bytes());
  ASSERT_TRUE(read.ok()) << read.status().message();
}

TEST(LaterVersion, FormatAndFamiliesAreNamed) {
  ForgedFile format = ForgedFile::of(smallPlan());
  format.format = 2;
  EXPECT_EQ(parsePlan(format.bytes()).status().message(),
            "the plan has format version 2, this program reads version 1");

  ForgedFile family = ForgedFile::of(smallPlan());
  family.families.push_back({"services", 9});
  EXPECT_EQ(parsePlan(family.bytes()).status().message(),
            "the plan uses the opcode family `services`, which this program does not know");

  ForgedFile newer = ForgedFile::of(smallPlan());
  newer.families.front().version = 3;
  EXPECT_EQ(parsePlan(newer.bytes()).status().message(),
            "the plan has `compute` family version 3, this program reads version 1");
}

TEST(LaterVersion, AnUnknownPartIsSkippedIfItMayBe) {
  ForgedFile file = ForgedFile::of(smallPlan());
  file.parts.push_back({77, 0, "notes", /*required=*/0});
  const StatusOr<Plan> read = parsePlan(file.bytes());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(planId(*read), planId(smallPlan())); // what may be skipped is not in the id
  EXPECT_TRUE(parseRankPlan(file.bytes(), 1).ok());

  file.parts.back().required = 1;
  EXPECT_EQ(parsePlan(file.bytes()).status().message(),
            "the plan has a part of kind 77, which this program does not know");
  EXPECT_EQ(parseRankPlan(file.bytes(), 1).status().code(), StatusCode::Unacceptable);
}

TEST(LaterVersion, AnUnknownOpcodeIsNamed) {
  EXPECT_EQ(sentenceAfter([](Plan &plan) { plan.programs[1].actions[6].opcode = 0x010f; }),
            "rank 1: action 6 has opcode 0x010f, which this program does not know");
}

TEST(Forged, PartsMustBeAllThereOnceAndInOrder) {
  using enum file::PartKind;
  const auto sentence = [](const std::function<void(ForgedFile &)> &change) {
    ForgedFile file = ForgedFile::of(smallPlan());
    change(file);
    return parsePlan(file.bytes()).status().message();
  };
  EXPECT_EQ(sentence([](ForgedFile &file) { std::swap(file.parts[2], file.parts[3]); }),
            "the plan is damaged: its parts are not in order");
  EXPECT_EQ(
      sentence([](ForgedFile &file) { file.parts.insert(file.parts.begin(), file.parts.front()); }),
      "the plan is damaged: its parts are not in order");
  EXPECT_EQ(sentence([](ForgedFile &file) { file.part(Layout, 1).index = 2; }),
            "the plan is damaged: it has no part `layout 1`");
  EXPECT_EQ(sentence([](ForgedFile &file) { file.part(Operands, 1).bytes.pop_back(); }),
            "the plan is damaged: part `operands of program 1` does not hold whole elements");
  EXPECT_EQ(sentence([](ForgedFile &file) { file.part(Common).bytes = "nonsense"; }),
            "the plan is damaged: part `common` cannot be read");
  EXPECT_EQ(sentence([](ForgedFile &file) { file.part(Tensors).bytes.back() ^= 1; }),
            "the plan's tensors are not those that its models have in this program");
  EXPECT_EQ(sentence([](ForgedFile &file) { file.part(Origins).required = 1; }),
            "the plan is damaged: part `origins` is not marked as it must be");
  EXPECT_EQ(sentence([](ForgedFile &file) { file.families.pop_back(); }),
            "the plan is damaged: the opcode families that it lists are not those that it uses");
  EXPECT_EQ(sentence([](ForgedFile &file) { file.parts.erase(file.parts.begin()); }),
            "the plan is damaged: it is not made from the job that it holds");
  // Origins are optional: without them the plan is whole.
  EXPECT_EQ(sentence([](ForgedFile &file) { file.parts.pop_back(); }), "");
}

TEST(OutOfRange, Common) {
  expectSentences({
      {"the plan has 0 ranks along `pp`", [](Plan &p) { p.mesh.pipeline = 0; }},
      {"the plan has 4294967295 ranks along `pp`", [](Plan &p) { p.mesh.pipeline = ~0u; }},
      {"the plan has 0 ranks along `dp`", [](Plan &p) { p.mesh.data = 0; }},
      {"the plan has 1048576 ranks along `dp`", [](Plan &p) { p.mesh.data = 1 << 20; }},
      {"the plan has 2 ranks along `cp` or `tp`, this program knows only 1",
       [](Plan &p) { p.mesh.tensor = 2; }},
      {"2 programs are bound to 4 ranks", [](Plan &p) { p.mesh.data = 2; }},
      {"2 programs are bound to 3 ranks", [](Plan &p) { p.mesh.pipeline = 3; }},
      {"rank 1 has layout 2 of 2", [](Plan &p) { p.layoutOf[1] = 2; }},
      {"program 1 belongs to no rank", [](Plan &p) { p.programOf = {0, 0}; }},
      {"program 1 has stage 2 of model 0, which does not exist",
       [](Plan &p) { p.programs[1].stages[0].stage = 2; }},
      {"program 0 has stage 0 of model 1, which does not exist",
       [](Plan &p) { p.programs[0].stages[0].model = 1; }},
      {"the root of group `stats` is member 2 of 2", [](Plan &p) { p.groups[3].root = 2; }},
      {"flow, operation or type of group `step` is unknown",
       [](Plan &p) { p.groups[0].flow = Flow(6); }},
      {"flow, operation or type of group `step` is unknown",
       [](Plan &p) { p.groups[0].message.type = DataType(5); }},
      {"several groups are called `step`", [](Plan &p) { p.groups[1].name = "step"; }},
      {"group 2 has no legible name", [](Plan &p) { p.groups[2].name = "\x1b[2J"; }},
      {"group `norm` goes along neither `pp` nor `dp`", [](Plan &p) { p.groups[2].axes = 32; }},
      {"group `norm` has no pairs of ranks that add up", [](Plan &p) { p.groups[2].axes = 16; }},
      {"group `norm` moves something else than whole weights, gradients or squares",
       [](Plan &p) {
         p.groups[2].operation = Collective::AllReduce;
         p.groups[2].message = {.type = DataType::Float64}; // gradients are float32
       }},
      {"messages of group `norm` depend on a microbatch",
       [](Plan &p) { p.groups[2].message.perToken = 1; }},
      {"connect round 0 cannot connect ranks 0 and 2",
       [](Plan &p) { p.connect[0].pairs[0] = {0, 2}; }},
      {"connect round 0 cannot connect ranks 1 and 1",
       [](Plan &p) { p.connect[0].pairs[0] = {1, 1}; }},
      {"connect round 0 cannot connect ranks 0 and 1",
       [](Plan &p) { p.connect[0].pairs.push_back({0, 1}); }},
      {"connect round 1 cannot connect all replicas", // there is one
       [](Plan &p) { p.connect.push_back({.allReplicas = true, .pairs = {}}); }},
      {"origin 0 is of no action", [](Plan &p) { p.origins[0].opcode = 0; }},
      {"the plan's job is not UTF-8 text", [](Plan &p) { p.job = "caf\xe9"; }},
  });
}

TEST(OutOfRange, ModelAndSettings) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expectSentences({
      {"family or type of model 0 is unknown",
       [](Plan &p) { p.models[0].config.family = ModelFamily(6); }},
      {"the kernels of model 0 are unknown",
       [](Plan &p) { p.models[0].config.kernels = KernelLibrary(2); }},
      {"model 0 has a vocabulary of 255, the bytes of its text are 256",
       [](Plan &p) {
         p.models[0].config = {.layers = 2,
                               .hidden = 8,
                               .heads = 1,
                               .kvHeads = 1,
                               .headWidth = 8,
                               .ffn = 8,
                               .vocab = 255};
       }},
      {"stage 1 of model 0 does not continue the one before it",
       [](Plan &p) { p.models[0].stages[1].first = 0; }},
      {"the stages of model 0 have 3 of its 2 layers",
       [](Plan &p) { p.models[0].stages[1].end = 3; }},
      {"stage 1 of model 0 does not continue the one before it", // behind a head a copy begins
       [](Plan &p) { p.models[0].stages[0].head = true; }},
      {"the stages of model 0 have 2 of its 5 layers",
       [](Plan &p) { p.models[0].config.layers = 5; }},
      {"a step of 0 microbatches", [](Plan &p) { p.data.microbatches = 0; }},
      {"a step of 4294967295 microbatches", [](Plan &p) { p.data.microbatches = ~0u; }},
      {"a microbatch of 8 tokens, 4294967295 samples of up to 8",
       [](Plan &p) { p.data.samples = ~0u; }},
      {"a microbatch of 7 tokens, 1 samples of up to 8", [](Plan &p) { p.data.tokens = 7; }},
      {"a microbatch of 9 tokens, 1 samples of up to 8", [](Plan &p) { p.data.tokens = 9; }},
      {"a step of 3 samples in 2 microbatches of 1 in each replica",
       [](Plan &p) { p.data.batch = 3; }},
      {"a microbatch of 8 tokens, 1 samples of up to 8", [](Plan &p) { p.data.slices = 0; }},
      {"a microbatch of 8 tokens, 1 samples of up to 8", [](Plan &p) { p.data.slices = 2; }},
      {"slices of samples: 2 of 8 tokens",
       [](Plan &p) {
         p.data.slices = 2;
         p.data.tokens = 4;
         p.data.batch = 1;
         p.data.split = Split::Line;
       }},
      {"a step of 0 samples in 2 microbatches of 1 in each replica",
       [](Plan &p) { p.data.batch = 0; }},
      {"what of the text is a sample is unknown", [](Plan &p) { p.data.split = Split(3); }},
      {"a setting of the optimizer is out of range",
       [=](Plan &p) { p.optimizer.learningRate = nan; }},
      {"a setting of the optimizer is out of range", [](Plan &p) { p.optimizer.beta2 = 1; }},
      {"the longest wait for a peer is not a positive number of seconds",
       [](Plan &p) { p.limits.transferSeconds = 0; }},
      {"the time in which ranks meet is not a positive number of seconds",
       [](Plan &p) { p.limits.connectSeconds = 0; }},
      {"gradients are added up in no known order",
       [](Plan &p) { p.gradientOrder = static_cast<GradientOrder>(2); }},
      {"a prediction is out of range", [=](Plan &p) { p.predictions.bubble = nan; }},
      {"the name of the run, its export, its schedule or the compiler is not legible",
       [](Plan &p) { p.run.exportTo = std::string("a\0b", 3); }},
      {"the directory of the checkpoints has no legible name",
       [](Plan &p) { p.checkpoint = {"a\xff", 1, 0}; }},
      {"checkpoints every 0 steps, the newest 0 of them, in `out`",
       [](Plan &p) { p.checkpoint = {"out", 0, 0}; }},
      {"checkpoints every 5 steps, the newest 0 of them, in ``",
       [](Plan &p) { p.checkpoint = {"", 5, 0}; }},
      {"checkpoints every 0 steps, the newest 2 of them, in ``",
       [](Plan &p) { p.checkpoint = {"", 0, 2}; }},
      {"the text file has no legible name",
       [](Plan &p) { p.data.text = "\xed\xa0\x80"; }}, // a surrogate
  });
}

TEST(OutOfRange, SizesThatWouldOverflow) {
  EXPECT_EQ(sentenceAfter([](Plan &p) {
              ModelConfig &c = p.models[0].config;
              c = {.layers = 1 << 16,
                   .hidden = 1 << 20,
                   .heads = 1,
                   .kvHeads = 1,
                   .headWidth = 1 << 20,
                   .ffn = 1 << 22,
                   .vocab = 1 << 24};
              p.models[0].stages = {{0, 1, true, false}, {1, 1 << 16, false, true}};
              p.data.samples = 1 << 16;
              p.data.tokens = 1 << 19;
            }),
            "model 0 is larger than any machine");
}

TEST(OutOfRange, Lanes) {
  expectSentences({
      {"rank 0 has 0 lanes", [](Plan &p) { p.programs[0].lanes.clear(); }},
      {"rank 0 has 65 lanes", [](Plan &p) { p.programs[0].lanes.resize(65); }},
      {"rank 0: lane 0 (host lane) is of the wrong kind",
       [](Plan &p) { p.programs[0].lanes[0].kind = LaneKind::Host; }},
      {"rank 0: lane 1 (compute lane) is of the wrong kind",
       [](Plan &p) { p.programs[0].lanes[1].kind = LaneKind::Compute; }},
      {"rank 0: lane 1 (? lane) is of the wrong kind",
       [](Plan &p) { p.programs[0].lanes[1].kind = LaneKind(8); }},
      {"rank 0: lane 6 (group `4`) has no such group",
       [](Plan &p) { p.programs[0].lanes[6].group = 4; }},
      {"rank 0: lane 7 (group `step`) exists twice",
       [](Plan &p) { p.programs[0].lanes[7].group = 0; }},
      {"rank 0: lane 3 (channel `rank 0 → rank 1, forward`) exists twice",
       [](Plan &p) { p.programs[0].lanes[3].flow = Flow::Forward; }},
      {"rank 0: lane 2 (channel `rank 0 → rank 1, ?`) has an unknown flow or type",
       [](Plan &p) { p.programs[0].lanes[2].flow = Flow(6); }},
      {"rank 0: lane 3 (channel `rank 0 → rank 0, data`) has no such peer",
       [](Plan &p) { p.programs[0].lanes[3].peer.value = 2; }},
      {"rank 0: lane 3 (channel `rank 0 → rank 0, data`) leads to its own rank",
       [](Plan &p) { p.programs[0].lanes[3].peer.value = 0; }},
      {"rank 0: lane 2 (channel `rank 0 → rank 1, forward`) has no slots",
       [](Plan &p) { p.programs[0].lanes[2].slots = 0; }},
  });
}

TEST(OutOfRange, Loops) {
  expectSentences({
      {"rank 0: loop 0 does not fit its program", [](Plan &p) { p.programs[0].loops[0].end = 24; }},
      {"rank 0: loop 0 does not fit its program",
       [](Plan &p) { p.programs[0].loops[0].begin = 23; }},
      {"rank 0: loop 0 does not fit its program",
       [](Plan &p) { p.programs[0].loops[0].trips = 0; }},
      {"rank 0: loop 0 does not fit its program",
       [](Plan &p) { p.programs[0].loops.push_back(p.programs[0].loops[0]); }},
      {"rank 0: loop 0 has no place on the clock",
       [](Plan &p) { p.programs[0].loops[0].period = 0; }},
      {"rank 0: loop 0 has no place on the clock",
       [](Plan &p) { p.programs[0].loops[0].start = -1; }},
      {"rank 0: loop 0 has no place on the clock",
       [](Plan &p) { p.programs[0].loops[0].period = std::numeric_limits<std::int64_t>::max(); }},
  });
}

TEST(OutOfRange, LoopsInLoops) {
  const auto with = [](auto... loops) {
    return [loops...](Plan &p) { (p.programs[0].loops.push_back(loops), ...); };
  };
  // {id, begin, end, trips, start, period}; loop 0 is [1, 23).
  const Loop inner{7, 6, 10, 2, 5, 3};
  expectSentences({
      {"", with(inner)},
      {"", with(inner, Loop{8, 12, 14, 1, 12, 3})},
      {"rank 0: loop 7 overlaps another one",
       [inner](Plan &p) {
         p.programs[0].loops[0].end = 9;
         p.programs[0].loops.push_back(inner);
       }},
      {"rank 0: loop 8 overlaps another one", with(inner, Loop{8, 9, 12, 1, 12, 3})},
      {"rank 0: loop 8 lies in two others; only one is possible",
       with(inner, Loop{8, 7, 9, 1, 0, 1})},
      {"rank 0: loop 7 does not fit its program", with(Loop{7, 0, 1, 1, 0, 1})},
      {"rank 0: loop 8 does not fit its program", with(Loop{7, 12, 14, 1, 5, 3}, Loop{8, 6, 10})},
      {"rank 0: loop 8 has no place on the clock", with(inner, Loop{8, 12, 14, 1, 10, 3})},
      {"rank 0: loop 7 has no place on the clock", with(Loop{7, 6, 10, 2, -1, 3})},
      {"rank 0: loop 7 runs more often than a step has microbatches",
       with(Loop{7, 6, 10, 3, 5, 3})},
      {"rank 0: loop 0 advances microbatches in front of one that it holds",
       [inner](Plan &p) {
         p.programs[0].loops.push_back(inner);
         p.programs[0].actions[5].step = 1;
       }},
      {"rank 0: action 6 (forward, stage 0, microbatch 0 + 2 × iteration) is of a microbatch that "
       "no step has",
       [inner](Plan &p) {
         p.programs[0].loops.push_back(inner);
         p.programs[0].actions[6].step = 2;
       }},
  });
}

TEST(OutOfRange, Actions) {
  const auto change = [](void (*apply)(Action &)) {
    return [apply](Plan &p) { apply(p.programs[1].actions[5]); };
  };
  const std::string who = "rank 1: action 5 (forward, stage 1, microbatch 0) ";
  const auto sentence = [&](void (*apply)(Action &)) {
    const std::string said = sentenceAfter(change(apply));
    return said.starts_with(who) ? said.substr(who.size()) : said;
  };
  EXPECT_EQ(sentence([](Action &a) { a.lane = 9; }), "is on a lane of another kind");
  EXPECT_EQ(sentence([](Action &a) { a.lane = 1; }), "is on a lane of another kind");
  EXPECT_EQ(sentence([](Action &a) { a.waits[3] = Wait::on(9, 1); }),
            "waits for a lane that its rank does not have");
  EXPECT_EQ(sentence([](Action &a) { a.waits[0] = Wait::on(1, 0); }),
            "waits for a lane that its rank does not have");
  EXPECT_EQ(sentence([](Action &a) { a.flags |= 64; }),
            "has an unknown flag or a condition that does not exist");
  EXPECT_EQ(sentence([](Action &a) { a.guard = 1; }),
            "has an unknown flag or a condition that does not exist");
  EXPECT_EQ(sentence([](Action &a) { a.immediate = 1; }), "has an immediate value without meaning");
  EXPECT_EQ(sentence([](Action &a) { a.operandCount = 6; }), "has the wrong number of operands");
  EXPECT_EQ(sentence([](Action &a) { a.operands = ~0u - 3; }), "has the wrong number of operands");
  EXPECT_EQ(sentence([](Action &a) { a.step = 1; }),
            "rank 1: action 5 (forward, stage 1, microbatch 0 + iteration) is of a microbatch that "
            "no step has");
  EXPECT_EQ(sentence([](Action &a) { a.stage = 1; }),
            "rank 1: action 5 (forward, local stage 1, microbatch 0) is of a stage that its rank "
            "does not have");
  EXPECT_EQ(
      sentence([](Action &a) { a.microbatch = 2; }),
      "rank 1: action 5 (forward, stage 1, microbatch 2) is of a microbatch that no step has");
  expectSentences({
      {"rank 0: action 3 (broadcast `norm`) is not what its group does",
       [](Plan &p) { p.programs[0].actions[3].lane = 8; }},
      {"rank 0: action 6 (loss, stage 0, microbatch 0) is of a stage without a head",
       [](Plan &p) { p.programs[0].actions[6].opcode = code(Opcode::Loss); }},
  });
}

TEST(OutOfRange, Layouts) {
  const auto sentence = [](void (*apply)(Buffer &)) {
    return sentenceAfter([apply](Plan &p) { apply(p.layouts[1].buffers[11]); });
  };
  const std::string input = "rank 1: buffer 11 (input of stage 1) ";
  EXPECT_EQ(sentence([](Buffer &b) { b.count = 0; }), input + "has no slots");
  EXPECT_EQ(sentence([](Buffer &b) { b.count = 3000; }), input + "reaches beyond its arena");
  EXPECT_EQ(sentence([](Buffer &b) { b.count = ~0u; }), input + "reaches beyond its arena");
  EXPECT_EQ(sentence([](Buffer &b) { b.offset += 1; }), input + "is not aligned to 64 bytes");
  EXPECT_EQ(sentence([](Buffer &b) { b.offset = 0ull - 64; }), input + "reaches beyond its arena");
  EXPECT_EQ(sentence([](Buffer &b) { b.stride = 0; }), input + "has slots that overlap");
  EXPECT_EQ(sentence([](Buffer &b) { b.stride = 0ull - 64; }), input + "reaches beyond its arena");
  EXPECT_EQ(sentence([](Buffer &b) { b.bytes = ~0ull; }), input + "has slots that overlap");
  EXPECT_EQ(sentence([](Buffer &b) { b.tier = Tier::Host; }), input + "reaches beyond its arena");
  EXPECT_EQ(sentence([](Buffer &b) { b.tier = Tier(2); }), input + "is of an unknown kind or tier");
  EXPECT_EQ(sentence([](Buffer &b) { b.kind = BufferKind(99); }),
            "rank 1: buffer 11 (? of stage 1) is of an unknown kind or tier");
  EXPECT_EQ(
      sentence([](Buffer &b) { b.stage = 1; }),
      "rank 1: buffer 11 (input of local stage 1) belongs to a stage that its rank does not have");
  EXPECT_EQ(sentence([](Buffer &b) { b.stage = kNoStage; }),
            "rank 1: buffer 11 (input) belongs to a stage that its rank does not have");
  EXPECT_EQ(sentenceAfter([](Plan &p) { p.layouts[0].arena[1] = std::uint64_t{1} << 51; }),
            "rank 0 has an arena of 2251799813685248 bytes");
}

// No routine may be led past the end of a buffer: each buffer, made one byte smaller than its uses
// need, is refused.
TEST(OutOfRange, EveryBufferThatIsTooSmall) {
  const Plan plan = smallPlan({.exportTo = "model"});
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    for (std::size_t index = 0; index < plan.layouts[rank].buffers.size(); ++index) {
      Plan smaller = plan;
      smaller.layouts[rank].buffers[index].bytes -= 1;
      const Status status = checkPlan(smaller);
      EXPECT_EQ(status.code(), StatusCode::Unacceptable) << "rank " << rank << " buffer " << index;
      EXPECT_THAT(status.message(), testing::HasSubstr("cannot take"))
          << "rank " << rank << " buffer " << index;
    }
}

TEST(OutOfRange, RingsOfTheStepThatLackASlot) {
  const Plan plan = smallPlan();
  for (const std::size_t index : {1, 2, 3, 4}) { // segments, tokens, labels, losses
    Plan fewer = plan;
    fewer.layouts[0].buffers[index].count = 1;
    EXPECT_EQ(checkPlan(fewer).code(), StatusCode::Unacceptable) << index;
  }
}

// Every operand, exchanged for what is no buffer, and that of a routine for one of another kind.
TEST(OutOfRange, EveryOperandOfTheWrongKind) {
  const Plan plan = smallPlan({.exportTo = "model"});
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    for (const Action &action : plan.programs[rank].actions)
      for (std::uint32_t entry = action.operands; entry < action.operands + action.operandCount;
           ++entry)
        for (const std::uint32_t other : {kNoBuffer, kNoBuffer - 1, 1000u, 0u /* header */}) {
          if (plan.programs[rank].operands[entry] == other)
            continue;
          Plan wrong = plan;
          wrong.programs[rank].operands[entry] = other;
          EXPECT_EQ(checkPlan(wrong).code(), StatusCode::Unacceptable)
              << "rank " << rank << " operand " << entry << " as " << other;
        }
}

// Numbers that a peer computed must not become offsets, tokens or labels.
TEST(OutOfRange, MessagesOfAnotherKind) {
  const auto with = [](const char *action, std::uint32_t rank, BufferKind kind) {
    return [=](Plan &p) {
      Program &program = p.programs[rank];
      const std::vector<Buffer> &buffers = p.layouts[rank].buffers;
      const auto buffer = std::find_if(buffers.begin(), buffers.end(),
                                       [=](const Buffer &each) { return each.kind == kind; });
      program.operands[program.actions[indexOf(p, rank, action)].operands] =
          static_cast<std::uint32_t>(buffer - buffers.begin());
    };
  };
  expectSentences({
      {"rank 1: action 1 (broadcast `step`) cannot take stash of stage 1 as its `data`",
       with("broadcast `step`", 1, BufferKind::Stash)},
      {"rank 1: action 2 (broadcast `segments`) cannot take stash of stage 1 as its `data`",
       with("broadcast `segments`", 1, BufferKind::Stash)},
      {"rank 1: action 4 (receive forward from rank 0, microbatch 0) cannot take segments "
       "as its `destination`",
       with("receive forward from rank 0, stage 1, microbatch 0", 1, BufferKind::Segments)},
  });
}

TEST(OutOfRange, ARankHasOneHeader) {
  expectSentences({
      {"rank 0 has no buffer that is its step header",
       [](Plan &p) {
         Buffer second = p.layouts[0].buffers[0];
         second.bytes = 0;
         p.layouts[0].buffers.push_back(second);
       }},
  });
}

TEST(OutOfRange, BuffersOnTheSameBytes) {
  const auto onto = [](std::uint32_t one, std::uint32_t other) {
    return [=](Plan &p) { p.layouts[0].buffers[one].offset = p.layouts[0].buffers[other].offset; };
  };
  expectSentences({
      {"rank 0: buffer 0 (header) shares bytes with buffer 16 (workspace)", onto(16, 0)},
      {"rank 0: buffer 1 (segments) shares bytes with buffer 10 (weights of stage 0)", onto(1, 10)},
      {"rank 0: action 6 (forward, stage 0, microbatch 0) has weights of stage 0 and workspace on "
       "the same bytes",
       onto(16, 10)},
      {"", onto(5, 14)}, // scalars and an output gradient: no action takes both
  });
}

// Everything else a forger may write: any word of any part, hashes right. It is refused or it is
// another plan that can be checked and written; it never crashes (run with
// VIME_SANITIZE=address,undefined to see more).
TEST(Forged, AnyWordOfAnyPart) {
  ForgedFile file = ForgedFile::of(smallPlan());
  std::size_t refused = 0, taken = 0;
  for (ForgedPart &part : file.parts)
    for (std::size_t word = 0; word + 4 <= part.bytes.size(); word += 4) {
      const std::string kept = part.bytes.substr(word, 4);
      for (const std::uint32_t value :
           {0u, 1u, 0xFFFFu, 0x10000u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
        if (std::memcmp(kept.data(), &value, 4) == 0)
          continue;
        part.bytes.replace(word, 4, reinterpret_cast<const char *>(&value), 4);
        const std::string bytes = file.bytes();
        const StatusOr<Plan> read = parsePlan(bytes);
        if (read.ok())
          ASSERT_TRUE(checkPlan(*read).ok());
        else
          ASSERT_EQ(read.status().code(), StatusCode::Unacceptable) << read.status().message();
        ++(read.ok() ? taken : refused);
        for (std::uint32_t rank = 0; rank < 2; ++rank)
          (void)parseRankPlan(bytes, rank);
      }
      part.bytes.replace(word, 4, kept);
    }
  EXPECT_GT(refused, taken); // the clock, seeds, names and waits of a plan are free, here
}

} // namespace
} // namespace vime
