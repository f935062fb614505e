#include "compiler/Lowering/PassWriter.h"

#include <algorithm>
#include <cassert>

#include "compiler/Lowering/TrainingGroups.h"

namespace vime {

using namespace plan;

namespace {

std::size_t keyOf(const PipelineNode &node) {
  return static_cast<std::size_t>(node.stage) * kNodeKinds + static_cast<std::size_t>(node.kind);
}

bool isTask(const PipelineNode &node) {
  return node.kind != NodeKind::SendForward && node.kind != NodeKind::SendBackward;
}

Opcode forwardOf(Pass pass) {
  return pass == Pass::Evaluate ? Opcode::Evaluate
         : pass == Pass::Infer  ? Opcode::Infer
                                : Opcode::Forward;
}

Opcode lossOf(Pass pass) {
  return pass == Pass::Evaluate      ? Opcode::EvaluateLoss
         : pass == Pass::Infer       ? Opcode::LogProbabilities
         : pass == Pass::TrainPolicy ? Opcode::PolicyLoss
                                     : Opcode::Loss;
}

/// Marks what the loop runs, by key.
void markKeys(const FoldedClock &folded, const ClockPart &loop, std::vector<char> &keys) {
  for (std::size_t index = loop.begin; index < loop.end; ++index)
    keys[keyOf(folded.clock.nodes[index])] = 1;
}

} // namespace

void PassWriter::write(const FoldedClock &folded, Pass pass, std::uint32_t loop, bool isDecided) {
  clearing = clearingMicrobatches(folded.clock, pipeline.placement.size());
  const std::int64_t ticks = folded.hasLoops() ? ticksOf(folded) : 0;
  residencies.clear();
  if (pipeline.window != 0 && folded.hasLoops())
    unshardAll();
  else if (pipeline.window != 0)
    planResidencies(folded);
  programs.beginPass();
  for (std::size_t part = 0; part < folded.parts.size(); ++part) {
    const ClockPart &here = folded.parts[part];
    if (!here.isLoop()) {
      flat(folded, part, pass, ticks);
      continue;
    }
    const ProgramWriter::Trips trips{.loop = loop++,
                                     .trips = here.trips,
                                     .perTrip = isDecided ? folded.perTrip() : 0,
                                     .shown = here.shown,
                                     .start = folded.clock.nodes[here.begin].time * ticks,
                                     .period = here.period * ticks};
    programs.beginTrips(trips);
    for (std::size_t index = here.begin; index < here.end; ++index) {
      const PipelineNode &node = folded.clock.nodes[index];
      programs.notBefore(node.time * ticks);
      this->node(
          node,
          {static_cast<std::uint32_t>(node.microbatch), static_cast<std::uint8_t>(here.advance)},
          pass);
    }
    programs.endTrips(trips);
  }
  programs.endPass();
  if (pipeline.window != 0 && folded.hasLoops())
    reshardAll();
}

/// Of the tasks of each rank in their order.
void PassWriter::planResidencies(const FoldedClock &folded) {
  std::vector<std::vector<std::uint32_t>> uses(pipeline.ranks);
  for (const PipelineNode &node : folded.clock.nodes)
    if (isTask(node))
      uses[pipeline.placement[node.stage]].push_back(pipeline.chunkOf[node.stage]);
  for (std::uint32_t rank = 0; rank < pipeline.ranks; ++rank)
    residencies.push_back({planResidency(uses[rank], pipeline.window, pipeline.rule)});
  for (std::uint32_t rank = 0; rank < pipeline.ranks; ++rank)
    happen(rank);
}

/// The first task of a pass waits for header, segments, input, weights and a place for its output:
/// for one thing more than there is room for.
void PassWriter::begin(std::uint32_t rank) {
  for (std::uint32_t replica = 0; replica < pipeline.replicas; ++replica)
    programs.local(replica * pipeline.ranks + rank, Opcode::Join);
}

/// What may happen now that so many of its tasks are written.
void PassWriter::happen(std::uint32_t rank) {
  RankResidency &here = residencies[rank];
  while (here.next < here.events.size() && here.events[here.next].before <= here.written)
    happen(rank, here.events[here.next++]);
}

void PassWriter::happen(std::uint32_t rank, const ResidencyEvent &event) {
  if (event.unshards) {
    programs.collective(Opcode::Unshard, kWeightsGroup, rank, Waiting::Nobody, event.stage,
                        static_cast<std::uint16_t>(event.slot));
    return;
  }
  for (std::uint32_t replica = 0; replica < pipeline.replicas; ++replica)
    programs.local(replica * pipeline.ranks + rank, Opcode::Reshard, event.stage, {},
                   static_cast<std::uint16_t>(event.slot));
}

/// Around loops every stage has a slot of its own.
void PassWriter::unshardAll() {
  for (std::uint32_t stage = 0; stage < pipeline.placement.size(); ++stage)
    happen(pipeline.placement[stage],
           {0, pipeline.chunkOf[stage], pipeline.chunkOf[stage], /*unshards=*/true});
}

void PassWriter::reshardAll() {
  for (std::uint32_t stage = 0; stage < pipeline.placement.size(); ++stage)
    happen(pipeline.placement[stage],
           {0, pipeline.chunkOf[stage], pipeline.chunkOf[stage], /*unshards=*/false});
}

void PassWriter::begin(const PipelineClock &clock) {
  clearing = clearingMicrobatches(clock, pipeline.placement.size());
}

void PassWriter::write(std::span<const PipelineNode> nodes) {
  for (const PipelineNode &node : nodes)
    this->node(node, {static_cast<std::uint32_t>(node.microbatch)}, Pass::Train);
}

/// Behind a loop, what it runs goes on by its trips, and what no loop runs, if it can.
void PassWriter::flat(const FoldedClock &folded, std::size_t part, Pass pass, std::int64_t ticks) {
  const ClockPart &here = folded.parts[part];
  const ClockPart *loop = part == 0 ? nullptr : &folded.parts[part - 1];
  std::vector<char> ofOthers(pipeline.placement.size() * kNodeKinds, 0);
  for (const ClockPart &other : folded.parts)
    if (loop && other.isLoop() && &other != loop)
      markKeys(folded, other, ofOthers);
  for (std::size_t index = here.begin; index < here.end; ++index) {
    const PipelineNode &node = folded.clock.nodes[index];
    MovingMicrobatch microbatch{static_cast<std::uint32_t>(node.microbatch)};
    const std::uint32_t gone =
        loop ? static_cast<std::uint32_t>(loop->advance) * loop->shown : microbatch.index + 1;
    if (microbatch.index >= gone && !ofOthers[keyOf(node)])
      microbatch = {microbatch.index - gone, static_cast<std::uint8_t>(loop->advance)};
    if (folded.hasLoops())
      programs.notBefore(node.time * ticks);
    const bool shares = !residencies.empty() && isTask(node);
    const auto rank = static_cast<std::uint32_t>(pipeline.placement[node.stage]);
    if (shares && residencies[rank].written == 0)
      begin(rank);
    this->node(node, microbatch, pass);
    if (shares) {
      ++residencies[rank].written;
      happen(rank);
    }
  }
}

/// Ticks of half a unit of time: so many that whatever happens at one time, one after the other
/// where it meets, is over before the next time. Then times repeat as the clock does.
std::int64_t PassWriter::ticksOf(const FoldedClock &folded) const {
  std::vector<std::int64_t> latest(pipeline.ranks, 0);
  std::int64_t most = 0;
  int time = -1;
  for (const PipelineNode &node : folded.clock.nodes) {
    if (node.time != time)
      std::fill(latest.begin(), latest.end(), 0);
    time = node.time;
    std::int64_t &here = latest[pipeline.placement[node.stage]];
    if (node.kind == NodeKind::SendForward || node.kind == NodeKind::SendBackward) {
      std::int64_t &there =
          latest[pipeline.placement[node.stage + (node.kind == NodeKind::SendForward ? 1 : -1)]];
      here = there = std::max(here, there) + 1;
    } else {
      here += node.kind == NodeKind::Forward ? 2 : 1; // maybe with its loss
    }
    most = std::max(most, here);
  }
  return most;
}

void PassWriter::node(const PipelineNode &node, MovingMicrobatch microbatch, Pass pass) {
  const auto stage = static_cast<std::uint32_t>(node.stage);
  for (std::uint32_t replica = 0; replica < pipeline.replicas; ++replica) {
    const std::uint32_t first = replica * pipeline.ranks;
    const ProgramWriter::End here = endOf(first, stage);
    if (node.kind == NodeKind::SendForward)
      programs.transfer(here, endOf(first, stage + 1), Flow::Forward, pipeline.boundary,
                        BufferKind::Input, microbatch);
    else if (node.kind == NodeKind::SendBackward)
      programs.transfer(here, endOf(first, stage - 1), Flow::Backward, pipeline.boundary,
                        BufferKind::OutputGradient, microbatch);
    else
      task(node, here, microbatch, pass);
  }
}

void PassWriter::task(const PipelineNode &node, ProgramWriter::End here,
                      MovingMicrobatch microbatch, Pass pass) {
  const bool clears = node.microbatch == clearing[static_cast<std::size_t>(node.stage)];
  const std::uint16_t immediate = clears && accumulates(node) ? kOverwriteGradients : 0;
  const std::uint8_t flags = pipeline.fillsUp && !clears ? kSkipIfEmpty : 0;
  const auto run = [&](Opcode opcode) {
    programs.local(here.rank, opcode, here.chunk, microbatch, immediate, flags);
  };
  switch (node.kind) {
  case NodeKind::Forward:
    run(forwardOf(pass));
    if ((static_cast<std::uint32_t>(node.stage) + 1) % pipeline.depth == 0)
      run(lossOf(pass));
    break;
  case NodeKind::Backward:
    return run(Opcode::Backward);
  case NodeKind::BackwardInput:
    return run(Opcode::BackwardInput);
  case NodeKind::BackwardWeight:
    return run(Opcode::BackwardWeight);
  default:
    break;
  }
}

} // namespace vime
