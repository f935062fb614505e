#include "compiler/Lowering/ProgramWriter.h"

#include <algorithm>
#include <cassert>

#include "runtime/Plan/Mesh.h"

namespace vime {

using namespace plan;

ProgramWriter::ProgramWriter(Plan &plan)
    : plan(plan), ranks(representatives(plan.mesh)), latest(ranks, -1), known(ranks) {
  plan.programs.resize(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    plan.programOf.push_back(rank);
    plan.programs[rank].lanes.push_back({.kind = LaneKind::Compute});
    known[rank].push_back({LaneKind::Compute, Flow::Forward, 0, 0});
  }
}

// Along the ring of the pipeline the shorter way; between two ranks forward is up and backward is
// down. The coordinator and its correspondents name each other by coordinate.
Peer ProgramWriter::peerOf(std::uint32_t from, std::uint32_t to, Flow flow) const {
  const std::uint32_t size = plan.mesh.pipeline;
  if (flow != Flow::Forward && flow != Flow::Backward)
    return {.relative = false, .value = static_cast<std::int32_t>(to % size)};
  const auto up = static_cast<std::int32_t>((to + size - from) % size);
  const auto down = static_cast<std::int32_t>(size) - up;
  const bool goUp = up < down || (up == down && flow == Flow::Forward);
  return {.relative = true, .value = goUp ? up : -down};
}

void ProgramWriter::transfer(End from, End to, Flow flow, Message message, BufferKind content,
                             MovingMicrobatch microbatch) {
  const std::uint32_t source = from.rank, destination = to.rank;
  auto endOf = [&](std::uint32_t rank, std::uint32_t peer, LaneKind kind) -> std::uint8_t {
    for (const KnownLane &lane : known[rank])
      if (lane.kind == kind && lane.flow == flow && lane.peer == peer)
        return lane.lane;
    // Seen from the receiver a forward message comes from below: the sender is where `down` leads.
    Peer towards = peerOf(source, destination, flow);
    if (kind == LaneKind::Receive) {
      if (towards.relative)
        towards.value = -towards.value;
      else
        towards.value = static_cast<std::int32_t>(source % plan.mesh.pipeline);
    }
    const std::uint8_t lane =
        laneOf(rank, {.kind = kind, .flow = flow, .peer = towards, .message = message});
    known[rank].push_back({kind, flow, peer, lane});
    return lane;
  };
  const std::uint8_t sendLane = endOf(source, destination, LaneKind::Send);
  const std::uint8_t receiveLane = endOf(destination, source, LaneKind::Receive);
  const std::int32_t time = after(std::max(latest[source], latest[destination]));
  const auto immediate = static_cast<std::uint16_t>(content);
  append(source, Opcode::Send, sendLane, from.chunk, microbatch, immediate, time);
  append(destination, Opcode::Receive, receiveLane, to.chunk, microbatch, immediate, time);
}

void ProgramWriter::collective(Opcode opcode, std::uint32_t group, std::uint32_t member,
                               Waiting waiting, std::uint32_t stage, std::uint16_t immediate) {
  std::vector<End> ends;
  for (const std::uint32_t rank : membersOf(group, member))
    ends.push_back({rank, stage});
  collective(opcode, group, ends, waiting, immediate);
}

void ProgramWriter::collective(Opcode opcode, std::uint32_t group, const std::vector<End> &members,
                               Waiting waiting, std::uint16_t immediate) {
  const Group &of = plan.groups[group];
  std::int32_t time = std::numeric_limits<std::int32_t>::min(); // negative behind a loop
  for (const End &member : members)
    time = std::max(time, after(latest[member.rank]));
  for (const auto &[rank, stage] : members) {
    Action &action = append(rank, opcode, groupLaneOf(rank, group), stage, {}, immediate, time);
    const bool isRoot = memberIndex(plan.mesh, rank, of) == of.root;
    if (waiting == Waiting::Everybody || (waiting == Waiting::AllButRoot && !isRoot))
      action.flags |= kHostBlocking;
  }
}

// Of those that are written.
std::vector<std::uint32_t> ProgramWriter::membersOf(std::uint32_t group,
                                                    std::uint32_t member) const {
  const Group &of = plan.groups[group];
  std::vector<std::uint32_t> members;
  for (std::uint32_t index = 0; index < memberCount(plan.mesh, of); ++index)
    if (const std::uint32_t rank = memberRank(plan.mesh, member, of, index); rank < ranks)
      members.push_back(rank);
    else
      break; // they ascend
  return members;
}

std::uint8_t ProgramWriter::groupLaneOf(std::uint32_t rank, std::uint32_t group) {
  for (const KnownLane &lane : known[rank])
    if (lane.kind == LaneKind::Group && lane.peer == group)
      return lane.lane;
  const Group &of = plan.groups[group];
  const std::uint8_t lane = laneOf(
      rank, {.kind = LaneKind::Group, .flow = of.flow, .message = of.message, .group = group});
  known[rank].push_back({LaneKind::Group, of.flow, group, lane});
  return lane;
}

void ProgramWriter::local(std::uint32_t rank, Opcode opcode, std::uint32_t stage,
                          MovingMicrobatch microbatch, std::uint16_t immediate,
                          std::uint8_t flags) {
  const LaneKind kind = findSignature(code(opcode))->lane;
  const auto on = std::find_if(known[rank].begin(), known[rank].end(),
                               [kind](const KnownLane &one) { return one.kind == kind; });
  std::uint8_t lane = 0;
  if (on != known[rank].end()) {
    lane = on->lane;
  } else {
    lane = laneOf(rank, {.kind = kind});
    known[rank].push_back({kind, Flow::Forward, 0, lane});
  }
  append(rank, opcode, lane, stage, microbatch, immediate, after(latest[rank])).flags |= flags;
}

std::uint8_t ProgramWriter::laneOf(std::uint32_t rank, const Lane &lane) {
  std::vector<Lane> &lanes = plan.programs[rank].lanes;
  assert(lanes.size() < Wait::kMaxLanes); // a rank has two ends per neighbour, flow and direction
  lanes.push_back(lane);
  return static_cast<std::uint8_t>(lanes.size() - 1);
}

Action &ProgramWriter::append(std::uint32_t rank, Opcode opcode, std::uint8_t lane,
                              std::uint32_t stage, MovingMicrobatch microbatch,
                              std::uint16_t immediate, std::int32_t time) {
  latest[rank] = time;
  // Whoever takes no part in loops over microbatches counts from the start of the step.
  const std::int64_t base = plan.mesh.isEngine(rank) ? time + origin : time;
  return plan.programs[rank].actions.emplace_back(Action{.opcode = code(opcode),
                                                         .lane = lane,
                                                         .time = static_cast<std::int32_t>(base),
                                                         .stage = static_cast<std::uint16_t>(stage),
                                                         .step = microbatch.step,
                                                         .microbatch = microbatch.index,
                                                         .immediate = immediate});
}

void ProgramWriter::guard(std::uint32_t rank, std::uint8_t condition) {
  plan.programs[rank].actions.back().guard = condition;
}

void ProgramWriter::beginCase(std::uint8_t condition) {
  for (Program &program : plan.programs) {
    const auto here = static_cast<std::uint32_t>(program.actions.size());
    program.cases.push_back({here, here, condition});
  }
}

void ProgramWriter::endCase() {
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (const Program &program = plan.programs[rank];
        program.cases.back().begin == program.actions.size())
      local(rank, Opcode::Join); // it is drained there all the same
  for (Program &program : plan.programs) {
    program.cases.back().end = static_cast<std::uint32_t>(program.actions.size());
    assert(program.cases.back().begin < program.cases.back().end);
  }
}

void ProgramWriter::beginLoop(std::uint32_t id, std::uint32_t trips, std::uint8_t until) {
  const std::int64_t start = segmentStart + latestOfAll() + 1;
  for (Program &program : plan.programs) {
    const auto here = static_cast<std::uint32_t>(program.actions.size());
    program.loops.push_back(
        {.id = id, .begin = here, .end = here, .trips = trips, .start = start, .until = until});
  }
  segmentStart = start;
  origin = 0;
  outermost = plan.programs.front().loops.size() - 1;
  std::fill(latest.begin(), latest.end(), -1);
}

void ProgramWriter::endLoop() {
  const std::int64_t period = origin + latestOfAll() + 1;
  for (Program &program : plan.programs) {
    Loop &loop = program.loops[outermost];
    loop.end = static_cast<std::uint32_t>(program.actions.size());
    loop.period = period;
    segmentStart = loop.start + loop.trips * period;
  }
  origin = 0;
  std::fill(latest.begin(), latest.end(), -1);
}

// Never in front of where a loop before it ended, behind which nothing may have happened yet.
void ProgramWriter::beginPass() { passStart = std::max(latestOfAll() + 1, 0); }

void ProgramWriter::beginTrips(const Trips &trips) {
  origin += passStart + trips.start;
  for (std::uint32_t rank = 0; rank < ranks && !plan.mesh.isEngine(rank); ++rank) {
    Program &program = plan.programs[rank];
    const auto here = static_cast<std::uint32_t>(program.actions.size());
    program.loops.push_back({.id = trips.loop,
                             .begin = here,
                             .end = here,
                             .trips = trips.trips,
                             .start = origin,
                             .period = trips.period,
                             .perTrip = trips.perTrip});
  }
  passStart = -trips.start;
  std::fill(latest.begin(), latest.end(), -1);
}

void ProgramWriter::endTrips(const Trips &trips) {
  for (std::uint32_t rank = 0; rank < ranks && !plan.mesh.isEngine(rank); ++rank) {
    Program &program = plan.programs[rank];
    Loop &loop = program.loops.back();
    loop.end = static_cast<std::uint32_t>(program.actions.size());
    assert(loop.begin < loop.end);
  }
  origin += trips.trips * trips.period;
  passStart -= trips.shown * trips.period;
  // What the last trip did lies in front of the end of the loop.
  for (std::int32_t &time : latest) {
    assert(time < trips.period);
    time -= static_cast<std::int32_t>(trips.period);
  }
}

void ProgramWriter::shareEqualPrograms() {
  std::vector<Program> kept;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t first =
        plan.mesh.isEngine(rank) ? plan.mesh.trainers() : rank % plan.mesh.pipeline;
    const std::uint32_t leading = rank == first ? 0 : plan.programOf[first];
    const bool shares = rank != first && plan.programs[rank] == kept[leading];
    plan.programOf[rank] = shares ? leading : static_cast<std::uint32_t>(kept.size());
    if (!shares)
      kept.push_back(std::move(plan.programs[rank]));
  }
  plan.programs = std::move(kept);
}

} // namespace vime
