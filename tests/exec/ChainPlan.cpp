#include "tests/exec/ChainPlan.h"

namespace vime {
namespace {

using namespace plan;

/// The clock. A transfer's time is that of its sender's task plus 4, the same at both ends.
struct ChainClock {
  ChainShape shape;
  std::int32_t forward(std::uint32_t rank, std::uint32_t microbatch) const {
    return 20 * microbatch + 9 * rank + 9;
  }
  std::int32_t backwardStart() const { return forward(shape.ranks, shape.microbatches) + 20; }
  std::int32_t backward(std::uint32_t rank, std::uint32_t microbatch) const {
    return backwardStart() + 20 * microbatch + 9 * (shape.ranks - 1 - rank);
  }
  std::int32_t end() const { return backward(0, shape.microbatches) + 20; }
  std::int64_t period() const { return end() + 10; }
};

class RankBuilder {
public:
  RankBuilder(ChainShape shape, std::uint32_t rank) : shape(shape), clock{shape}, rank(rank) {}

  void build(Program &program, Layout &layout) {
    addLanes();
    addBuffers();
    for (std::uint32_t microbatch = 0; microbatch < shape.microbatches; ++microbatch)
      forward(microbatch);
    for (std::uint32_t microbatch = 0; microbatch < shape.microbatches; ++microbatch)
      backward(microbatch);
    add(Opcode::SquareNorm, 0, clock.end(), {own, own}, {Wait::on(group, 1)});
    add(Opcode::AllGather, group, clock.end() + 1, {own, all}, {});
    add(Opcode::Clip, 0, clock.end() + 2, {all, own}, {Wait::on(group, 1)});
    result.loops = {
        {0, 0, static_cast<std::uint32_t>(result.actions.size()), shape.steps, 0, clock.period()}};
    result.stages = {{0, rank}};
    program = std::move(result);
    layout = std::move(memory);
  }

private:
  std::uint64_t slotBytes() const { return std::uint64_t(shape.bytesPerToken) * kChainTokens; }
  bool isFirst() const { return rank == 0; }
  bool isLast() const { return rank + 1 == shape.ranks; }

  std::uint8_t lane(Lane lane) {
    result.lanes.push_back(lane);
    return static_cast<std::uint8_t>(result.lanes.size() - 1);
  }
  Lane boundary(LaneKind kind, Flow flow, std::int32_t peer) const {
    return {
        kind,        flow, {true, Axis::Pipeline, peer}, {DataType::Byte, 0, shape.bytesPerToken},
        kChainSlots, 0};
  }
  void addLanes() {
    lane({.kind = LaneKind::Compute});
    if (!isLast()) {
      sendForward = lane(boundary(LaneKind::Send, Flow::Forward, 1));
      receiveBackward = lane(boundary(LaneKind::Receive, Flow::Backward, 1));
    }
    if (!isFirst()) {
      receiveForward = lane(boundary(LaneKind::Receive, Flow::Forward, -1));
      sendBackward = lane(boundary(LaneKind::Send, Flow::Backward, -1));
    }
    group = lane({.kind = LaneKind::Group, .group = 0});
  }

  std::uint32_t buffer(BufferKind kind, std::uint64_t bytes, std::uint32_t count) {
    const std::uint64_t stride =
        (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    memory.buffers.push_back({kind, Tier::Device, 0, count, bytes, stride, memory.arena[0]});
    memory.arena[0] += stride * count;
    return static_cast<std::uint32_t>(memory.buffers.size() - 1);
  }
  void addBuffers() {
    if (!isFirst()) {
      input = buffer(BufferKind::Input, slotBytes(), kChainSlots);
      inputGradient = buffer(BufferKind::InputGradient, slotBytes(), kChainSlots);
    }
    if (!isLast()) {
      output = buffer(BufferKind::Output, slotBytes(), kChainSlots);
      outputGradient = buffer(BufferKind::OutputGradient, slotBytes(), kChainSlots);
    }
    own = buffer(BufferKind::Squares, 8, 1);
    all = buffer(BufferKind::AllSquares, 8 * shape.ranks, 1);
  }

  void add(Opcode opcode, std::uint8_t lane, std::int32_t time, std::vector<std::uint32_t> operands,
           std::vector<Wait> waits, std::uint32_t microbatch = 0) {
    Action action{.opcode = code(opcode), .lane = lane, .time = time, .microbatch = microbatch};
    for (std::size_t wait = 0; wait < waits.size(); ++wait)
      action.waits[wait] = waits[wait];
    action.operands = static_cast<std::uint32_t>(result.operands.size());
    action.operandCount = static_cast<std::uint16_t>(operands.size());
    result.operands.insert(result.operands.end(), operands.begin(), operands.end());
    result.actions.push_back(action);
  }

  void forward(std::uint32_t microbatch) {
    std::vector<Wait> waits;
    if (!isFirst()) {
      add(Opcode::Receive, receiveForward, clock.forward(rank - 1, microbatch) + 4, {input}, {},
          microbatch);
      waits.push_back(Wait::on(receiveForward, 1));
    }
    if (!isLast())
      waits.push_back(Wait::on(sendForward, kChainSlots)); // the slot's last message has left
    add(Opcode::Forward, 0, clock.forward(rank, microbatch), {input, output}, waits, microbatch);
    if (!isLast())
      add(Opcode::Send, sendForward, clock.forward(rank, microbatch) + 4, {output}, {}, microbatch);
  }
  void backward(std::uint32_t microbatch) {
    std::vector<Wait> waits;
    if (!isLast()) {
      add(Opcode::Receive, receiveBackward, clock.backward(rank + 1, microbatch) + 4,
          {outputGradient}, {}, microbatch);
      waits.push_back(Wait::on(receiveBackward, 1));
    }
    if (!isFirst())
      waits.push_back(Wait::on(sendBackward, kChainSlots));
    add(Opcode::Backward, 0, clock.backward(rank, microbatch), {outputGradient, inputGradient},
        waits, microbatch);
    if (!isFirst())
      add(Opcode::Send, sendBackward, clock.backward(rank, microbatch) + 4, {inputGradient}, {},
          microbatch);
  }

  const ChainShape shape;
  const ChainClock clock;
  const std::uint32_t rank;
  Program result;
  Layout memory;
  std::uint8_t sendForward = 0, receiveBackward = 0, receiveForward = 0, sendBackward = 0,
               group = 0;
  std::uint32_t input = kNoBuffer, output = kNoBuffer, outputGradient = kNoBuffer,
                inputGradient = kNoBuffer;
  std::uint32_t own = 0, all = 0;
};

} // namespace

Plan chainPlan(ChainShape shape) {
  Plan plan;
  plan.mesh.pipeline = shape.ranks;
  plan.groups = {{"norm", Flow::Metrics, Collective::AllGather, 1, 0, {DataType::Float64, 8, 0}}};
  plan.models = {{}};
  plan.data.microbatches = shape.microbatches;
  plan.run = {"chain", shape.steps, 0, ""};
  for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
    plan.models[0].stages.push_back({rank, rank + 1, rank == 0, rank + 1 == shape.ranks});
    plan.programs.emplace_back();
    plan.layouts.emplace_back();
    RankBuilder(shape, rank).build(plan.programs.back(), plan.layouts.back());
    plan.programOf.push_back(rank);
    plan.layoutOf.push_back(rank);
  }
  return plan;
}

void foldMicrobatches(Plan &plan, std::uint32_t rank) {
  constexpr std::int64_t kPeriod = 20; // ChainClock
  Program &program = plan.programs[rank];
  const std::uint32_t trips = plan.data.microbatches,
                      behind = program.loops[0].end - 3, // norm, all-gather, clip
      body = behind / 2 / trips;
  std::vector<Action> actions;
  std::int64_t start = 0; // of the clock of what comes next
  for (const std::uint32_t first : {0u, behind / 2}) {
    const std::int64_t begin = program.actions[first].time;
    const auto size = static_cast<std::uint32_t>(actions.size());
    program.loops.push_back({1 + first, size, size + body, trips, begin, kPeriod});
    for (std::uint32_t index = first; index < first + body; ++index) {
      Action &action = actions.emplace_back(program.actions[index]);
      action.time -= static_cast<std::int32_t>(begin);
      action.step = 1;
    }
    start = begin + trips * kPeriod;
  }
  for (std::uint32_t index = behind; index < behind + 3; ++index)
    actions.emplace_back(program.actions[index]).time -= static_cast<std::int32_t>(start);
  program.actions = std::move(actions);
  program.loops[0].end = static_cast<std::uint32_t>(program.actions.size());
}

} // namespace vime
