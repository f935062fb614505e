#include "tests/plan/SmallPlan.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/SquareSum.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/StepHeader.h"

namespace vime {
namespace {

using namespace plan;

constexpr std::uint32_t kRanks = 2, kMicrobatches = 2, kSequence = 8, kHidden = 8;
constexpr std::uint32_t kBytesPerToken = kHidden * 4, kPeriod = 26, kLoopStart = 1;
constexpr std::uint32_t kHeaderBytes = 80, kSegmentBytes = 8, kTokenBytes = kSequence * 4;
constexpr std::uint32_t kSquareBytes = kSquareNumbers * sizeof(double);
constexpr std::uint32_t kRankStatsBytes = sizeof(RankStats);
static_assert(kHeaderBytes == StepHeader::bytes(kMicrobatches));

/// All slots of a buffer of two slots.
constexpr std::uint32_t extentOf(std::uint32_t bytes) { return kBufferAlignment + bytes; }

std::vector<Group> groups() {
  return {
      {"step", Flow::Control, Collective::Broadcast, 1, 0, {DataType::Byte, kHeaderBytes, 0}},
      {"segments",
       Flow::Data,
       Collective::Broadcast,
       1,
       0,
       {DataType::Int32, extentOf(kSegmentBytes), 0}},
      {"norm", Flow::Metrics, Collective::AllGather, 1, 0, {DataType::Float64, kSquareBytes, 0}},
      {"stats", Flow::Metrics, Collective::Gather, 1, 0, {DataType::Byte, kRankStatsBytes, 0}},
  };
}

Lane queue(LaneKind kind) { return {.kind = kind}; }
Lane groupLane(std::uint32_t group) { return {.kind = LaneKind::Group, .group = group}; }
Lane boundary(LaneKind kind, Flow flow, std::int32_t peer) {
  return {kind, flow, {true, Axis::Pipeline, peer}, {DataType::Float32, 0, kBytesPerToken}, 2, 0};
}
Lane whole(LaneKind kind, Flow flow, std::int32_t peer, DataType type, std::uint32_t bytes) {
  return {kind, flow, {false, Axis::Pipeline, peer}, {type, bytes, 0}, 1, 0};
}

/// Reserves buffers one behind the other.
class LayoutBuilder {
public:
  std::uint32_t add(BufferKind kind, std::uint64_t bytes, std::uint32_t count = 1,
                    std::uint16_t stage = kNoStage) {
    const std::uint64_t stride =
        (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    layout.buffers.push_back({kind, Tier::Device, stage, count, bytes, stride, layout.arena[0]});
    layout.arena[0] += stride * count;
    return static_cast<std::uint32_t>(layout.buffers.size() - 1);
  }
  std::uint32_t ofStage(BufferKind kind, std::uint64_t bytes, std::uint32_t count = 1) {
    return add(kind, bytes, count, 0);
  }
  Layout take() { return std::move(layout); }

private:
  Layout layout;
};

/// Appends actions; a wait is the index of an action that stands before, or of one of the previous
/// iteration.
class ProgramBuilder {
public:
  explicit ProgramBuilder(std::vector<Lane> lanes) { program.lanes = std::move(lanes); }

  struct On {
    std::uint32_t action;
    bool previousIteration = false;
  };

  std::uint32_t add(Opcode opcode, std::uint8_t lane, std::int32_t time,
                    std::vector<std::uint32_t> operands, std::vector<On> waits = {},
                    std::uint32_t microbatch = 0, std::uint16_t immediate = 0) {
    Action action{.opcode = code(opcode),
                  .lane = lane,
                  .time = time,
                  .microbatch = microbatch,
                  .immediate = immediate};
    action.operands = static_cast<std::uint32_t>(program.operands.size());
    action.operandCount = static_cast<std::uint16_t>(operands.size());
    program.operands.insert(program.operands.end(), operands.begin(), operands.end());
    program.actions.push_back(action);
    waiting.push_back(std::move(waits));
    return static_cast<std::uint32_t>(program.actions.size() - 1);
  }
  void blockOn(std::uint32_t action) { program.actions[action].flags |= kHostBlocking; }
  void beginLoop(std::uint64_t trips) {
    program.loops.push_back(
        {0, size(), 0, static_cast<std::uint32_t>(trips), kLoopStart, kPeriod, 0});
  }
  void endLoop() { program.loops.back().end = size(); }

  Program take() {
    program.stages = {{0, 0}};
    for (std::uint32_t action = 0; action < size(); ++action)
      for (std::size_t wait = 0; wait < waiting[action].size(); ++wait) {
        const On target = waiting[action][wait];
        program.actions[action].waits[wait] =
            Wait::on(laneOf(target.action), distance(target, action));
        program.actions[target.action].flags |= kSignalled;
      }
    return std::move(program);
  }

private:
  std::uint32_t size() const { return static_cast<std::uint32_t>(program.actions.size()); }
  int laneOf(std::uint32_t action) const { return program.actions[action].lane; }
  int countOnLane(int lane, std::uint32_t begin, std::uint32_t end) const {
    return static_cast<int>(
        std::count_if(program.actions.begin() + begin, program.actions.begin() + end,
                      [lane](const Action &action) { return action.lane == lane; }));
  }
  /// Actions of the target's lane dispatched since the target, itself included.
  int distance(On target, std::uint32_t from) const {
    const int lane = laneOf(target.action);
    if (!target.previousIteration)
      return countOnLane(lane, target.action, from);
    const Loop &loop = program.loops.front();
    return countOnLane(lane, target.action, loop.end) + countOnLane(lane, loop.begin, from);
  }

  Program program;
  std::vector<std::vector<On>> waiting;
};

struct Rank {
  Program program;
  Layout layout;
};

Rank rankZero(const SmallPlanOptions &options) {
  LayoutBuilder memory;
  const auto header = memory.add(BufferKind::Header, kHeaderBytes);
  const auto segments = memory.add(BufferKind::Segments, kSegmentBytes, kMicrobatches);
  const auto tokens = memory.add(BufferKind::Tokens, kTokenBytes, kMicrobatches);
  const auto labels = memory.add(BufferKind::Labels, kTokenBytes, kMicrobatches);
  const auto losses = memory.add(BufferKind::Losses, 8, kMicrobatches);
  const auto scalars = memory.add(BufferKind::Scalars, sizeof(StepScalars));
  const auto squares = memory.add(BufferKind::Squares, kSquareBytes);
  const auto allSquares = memory.add(BufferKind::AllSquares, kSquareBytes * kRanks);
  const auto stats = memory.add(BufferKind::Stats, kRankStatsBytes);
  const auto allStats = memory.add(BufferKind::AllStats, kRankStatsBytes * kRanks);
  const auto weights = memory.ofStage(BufferKind::Weights, 64);
  const auto gradients = memory.ofStage(BufferKind::Gradients, 64);
  const auto moments = memory.ofStage(BufferKind::Moments, 128);
  const auto output = memory.ofStage(BufferKind::Output, kSequence * kBytesPerToken, 2);
  const auto outputGradient =
      memory.ofStage(BufferKind::OutputGradient, kSequence * kBytesPerToken, 2);
  const auto stash = memory.ofStage(BufferKind::Stash, 64, 2);
  const auto workspace = memory.add(BufferKind::Workspace, 64);

  enum : std::uint8_t {
    compute,
    host,
    toForward,
    toData,
    fromBackward,
    fromMetrics,
    step,
    segment,
    norm,
    stat,
    io
  };
  std::vector<Lane> lanes = {
      queue(LaneKind::Compute),
      queue(LaneKind::Host),
      boundary(LaneKind::Send, Flow::Forward, 1),
      whole(LaneKind::Send, Flow::Data, 1, DataType::Int32, extentOf(kTokenBytes)),
      boundary(LaneKind::Receive, Flow::Backward, 1),
      whole(LaneKind::Receive, Flow::Metrics, 1, DataType::Float64, extentOf(8)),
      groupLane(0),
      groupLane(1),
      groupLane(2),
      groupLane(3)};
  if (!options.exportTo.empty())
    lanes.push_back(queue(LaneKind::Io));

  // Indices in dispatch order; what reaches into the previous iteration names an action that comes
  // later in the body.
  enum : std::uint32_t {
    initialize,
    decide,
    load,
    step_,
    segments_,
    labels_,
    F0,
    sendF0,
    F1,
    sendF1,
    takeB0,
    B0,
    takeB1,
    B1,
    scale,
    square,
    norm_,
    clip,
    optimize,
    losses_,
    measure,
    stats_,
    report
  };
  constexpr auto before = [](std::uint32_t action) { return ProgramBuilder::On{action, true}; };
  const std::vector<std::uint32_t> forward = {header, segments,  tokens,    weights,  stash,
                                              output, workspace, kNoBuffer, kNoBuffer};
  const std::vector<std::uint32_t> backward = {
      header,    segments,  outputGradient, tokens,    weights,   stash,    gradients,
      kNoBuffer, workspace, kNoBuffer,      kNoBuffer, kNoBuffer, kNoBuffer};
  ProgramBuilder program(lanes);
  program.add(Opcode::Initialize, compute, 0, {weights, moments, kNoBuffer});
  program.beginLoop(options.steps);
  program.add(Opcode::Decide, host, 0, {header}, {before(measure), before(step_)});
  program.add(Opcode::Load, host, 1, {header, tokens, labels, segments},
              {before(segments_), before(labels_)});
  program.add(Opcode::Broadcast, step, 2, {header}, {{load}});
  program.add(Opcode::Broadcast, segment, 3, {segments}, {{load}});
  program.add(Opcode::Send, toData, 4, {labels}, {{load}});
  program.add(Opcode::Forward, compute, 5, forward, {{load}, before(sendF0)}, 0);
  program.add(Opcode::Send, toForward, 6, {output}, {{F0}}, 0);
  program.add(Opcode::Forward, compute, 7, forward, {before(sendF1)}, 1);
  program.add(Opcode::Send, toForward, 9, {output}, {{F1}}, 1);
  program.add(Opcode::Receive, fromBackward, 11, {outputGradient}, {before(B0)}, 0);
  program.add(Opcode::Backward, compute, 12, backward, {{takeB0}}, 0, kOverwriteGradients);
  program.add(Opcode::Receive, fromBackward, 15, {outputGradient}, {before(B1)}, 1);
  program.add(Opcode::Backward, compute, 16, backward, {{takeB1}}, 1);
  program.add(Opcode::ScaleGradients, compute, 17, {header, gradients});
  program.add(Opcode::SquareNorm, compute, 18, {gradients, squares}, {before(norm_)});
  program.add(Opcode::AllGather, norm, 19, {squares, allSquares}, {{square}});
  program.add(Opcode::Clip, compute, 20, {allSquares, scalars}, {{norm_}, before(report)});
  program.add(Opcode::Optimize, compute, 21, {header, scalars, gradients, weights, moments});
  program.add(Opcode::Receive, fromMetrics, 22, {losses}, {before(measure)});
  program.add(Opcode::Measure, compute, 23, {header, losses, stats}, {{losses_}, before(stats_)});
  program.add(Opcode::Gather, stat, 24, {stats, allStats}, {{measure}, before(report)});
  program.add(Opcode::Report, host, 25, {scalars, allStats}, {{measure}, {stats_}});
  program.endLoop();
  if (!options.exportTo.empty()) {
    const auto shard =
        program.add(Opcode::ExportShard, io, 0, {weights, stats}, {{optimize}, {stats_}});
    const auto gather =
        program.add(Opcode::Gather, stat, 1, {stats, allStats}, {{shard}, {report}});
    program.add(Opcode::ExportCommit, host, 2, {allStats}, {{gather}});
  }
  return {program.take(), memory.take()};
}

Rank rankOne(const SmallPlanOptions &options) {
  LayoutBuilder memory;
  const auto header = memory.add(BufferKind::Header, kHeaderBytes);
  const auto segments = memory.add(BufferKind::Segments, kSegmentBytes, kMicrobatches);
  const auto labels = memory.add(BufferKind::Labels, kTokenBytes, kMicrobatches);
  const auto losses = memory.add(BufferKind::Losses, 8, kMicrobatches);
  const auto scalars = memory.add(BufferKind::Scalars, sizeof(StepScalars));
  const auto squares = memory.add(BufferKind::Squares, kSquareBytes);
  const auto allSquares = memory.add(BufferKind::AllSquares, kSquareBytes * kRanks);
  const auto stats = memory.add(BufferKind::Stats, kRankStatsBytes);
  const auto weights = memory.ofStage(BufferKind::Weights, 64);
  const auto gradients = memory.ofStage(BufferKind::Gradients, 64);
  const auto moments = memory.ofStage(BufferKind::Moments, 128);
  const auto input = memory.ofStage(BufferKind::Input, kSequence * kBytesPerToken, 2);
  const auto inputGradient =
      memory.ofStage(BufferKind::InputGradient, kSequence * kBytesPerToken, 2);
  const auto stash = memory.ofStage(BufferKind::Stash, 64, 1);
  const auto workspace = memory.add(BufferKind::Workspace, 64);

  enum : std::uint8_t {
    compute,
    toBackward,
    toMetrics,
    fromForward,
    fromData,
    step,
    segment,
    norm,
    stat,
    io
  };
  std::vector<Lane> lanes = {
      queue(LaneKind::Compute),
      boundary(LaneKind::Send, Flow::Backward, -1),
      whole(LaneKind::Send, Flow::Metrics, 0, DataType::Float64, extentOf(8)),
      boundary(LaneKind::Receive, Flow::Forward, -1),
      whole(LaneKind::Receive, Flow::Data, 0, DataType::Int32, extentOf(kTokenBytes)),
      groupLane(0),
      groupLane(1),
      groupLane(2),
      groupLane(3)};
  if (!options.exportTo.empty())
    lanes.push_back(queue(LaneKind::Io));

  enum : std::uint32_t {
    initialize,
    step_,
    segments_,
    labels_,
    takeF0,
    F0,
    L0,
    takeF1,
    B0,
    sendB0,
    F1,
    L1,
    B1,
    sendB1,
    scale,
    square,
    norm_,
    clip,
    optimize,
    losses_,
    measure,
    stats_
  };
  constexpr auto before = [](std::uint32_t action) { return ProgramBuilder::On{action, true}; };
  const std::vector<std::uint32_t> forward = {header,    segments,  input,     weights,  stash,
                                              kNoBuffer, workspace, kNoBuffer, kNoBuffer};
  const std::vector<std::uint32_t> loss = {header, segments, labels, stash, losses};
  const std::vector<std::uint32_t> backward = {
      header,        segments,  kNoBuffer, input,     weights,   stash,    gradients,
      inputGradient, workspace, kNoBuffer, kNoBuffer, kNoBuffer, kNoBuffer};
  ProgramBuilder program(lanes);
  program.add(Opcode::Initialize, compute, 0, {weights, moments, kNoBuffer});
  program.beginLoop(options.steps);
  program.blockOn(program.add(Opcode::Broadcast, step, 2, {header}, {before(measure)}));
  program.add(Opcode::Broadcast, segment, 3, {segments}, {before(measure)});
  program.add(Opcode::Receive, fromData, 4, {labels}, {before(L1)});
  program.add(Opcode::Receive, fromForward, 6, {input}, {before(B0)}, 0);
  program.add(Opcode::Forward, compute, 7, forward, {{step_}, {segments_}, {takeF0}}, 0);
  program.add(Opcode::Loss, compute, 8, loss, {{labels_}, before(losses_)}, 0);
  program.add(Opcode::Receive, fromForward, 9, {input}, {before(B1)}, 1);
  program.add(Opcode::Backward, compute, 10, backward, {before(sendB0)}, 0, kOverwriteGradients);
  program.add(Opcode::Send, toBackward, 11, {inputGradient}, {{B0}}, 0);
  program.add(Opcode::Forward, compute, 12, forward, {{takeF1}}, 1);
  program.add(Opcode::Loss, compute, 13, loss, {}, 1);
  program.add(Opcode::Backward, compute, 14, backward, {before(sendB1)}, 1);
  program.add(Opcode::Send, toBackward, 15, {inputGradient}, {{B1}}, 1);
  program.add(Opcode::ScaleGradients, compute, 17, {header, gradients});
  program.add(Opcode::SquareNorm, compute, 18, {gradients, squares}, {before(norm_)});
  program.add(Opcode::AllGather, norm, 19, {squares, allSquares}, {{square}});
  program.add(Opcode::Clip, compute, 20, {allSquares, scalars}, {{norm_}});
  program.add(Opcode::Optimize, compute, 21, {header, scalars, gradients, weights, moments});
  program.add(Opcode::Send, toMetrics, 22, {losses}, {{L1}});
  program.add(Opcode::Measure, compute, 23, {header, kNoBuffer, stats}, {before(stats_)});
  program.add(Opcode::Gather, stat, 24, {stats, kNoBuffer}, {{measure}});
  program.endLoop();
  if (!options.exportTo.empty()) {
    const auto shard =
        program.add(Opcode::ExportShard, io, 0, {weights, stats}, {{optimize}, {stats_}});
    program.add(Opcode::Gather, stat, 1, {stats, kNoBuffer}, {{shard}});
  }
  Rank rank{program.take(), memory.take()};
  rank.program.stages = {{0, 1}};
  return rank;
}

} // namespace

Plan smallPlan(const SmallPlanOptions &options) {
  Plan plan;
  plan.compiler = "0.1.0";
  plan.job = "version: 1\nname: small\n";
  plan.schedule = "1f1b";
  plan.mesh.pipeline = kRanks;
  plan.groups = groups();
  plan.models = {{{.family = ModelFamily::Null, .layers = 2, .hidden = kHidden},
                  {{0, 1, true, false}, {1, 2, false, true}},
                  ""}};
  plan.data = {"text.txt",    4096,         {1, 2},        kSequence,     /*samples=*/1, kSequence,
               kMicrobatches, /*slices=*/1, kMicrobatches, Split::Window, Tail::Join};
  plan.optimizer.learningRate = 1e-3;
  plan.optimizer.clip = 1;
  plan.run = {"small", options.steps, 7, options.exportTo};
  for (Rank rank : {rankZero(options), rankOne(options)}) {
    plan.programs.push_back(std::move(rank.program));
    plan.layouts.push_back(std::move(rank.layout));
  }
  plan.programOf = plan.layoutOf = {0, 1};
  plan.connect = {{.inEveryReplica = false, .pairs = {{0, 1}}}};
  plan.predictions = {9, 1.0 / 3, 2, "as long as stages sleep", 0.25, 0.125};
  plan.origins = {{code(Opcode::Forward), 2, 1, 4, "name"}};
  return plan;
}

plan::Plan foldedPlan(const SmallPlanOptions &options) {
  Plan plan = smallPlan(options);
  Program &program = plan.programs[0];
  const std::uint32_t first = indexOf(plan, 0, "forward, stage 0, microbatch 0");
  program.actions.erase(program.actions.begin() + first + 2, program.actions.begin() + first + 4);
  Loop &steps = program.loops[0];
  steps.end -= 2;
  for (std::uint32_t index = first; index < first + 2; ++index) {
    program.actions[index].step = 1;
    program.actions[index].time -= 5;
  }
  for (std::uint32_t index = first + 2; index < steps.end; ++index)
    program.actions[index].time -= 5 + 2 * 3; // the clock behind a loop starts at its end
  program.loops.push_back({7, first, first + 2, 2, 5, 3, 0});
  return plan;
}

std::uint32_t indexOf(const Plan &plan, std::uint32_t rank, std::string_view description) {
  const Program *program = programOf(plan, rank);
  for (std::uint32_t action = 0; program && action < program->actions.size(); ++action)
    if (describe(plan, rank, action) == description)
      return action;
  std::fprintf(stderr, "rank %u has no action `%.*s`\n", rank, static_cast<int>(description.size()),
               description.data());
  std::abort();
}

} // namespace vime
