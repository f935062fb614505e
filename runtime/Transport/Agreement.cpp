#include "runtime/Transport/Agreement.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "runtime/Plan/Describe.h"
#include "runtime/Transport/Ends.h"

namespace vime {
namespace {

/// One transfer as both ends see it. All fields are 64 bits wide: no padding enters the hash.
struct Transfer {
  std::uint64_t index, opcode, loop, trips;
  std::int64_t period, start, base;
  std::uint64_t fixed, perToken, type, microbatch, step;
};

const plan::Message &messageOf(const plan::Plan &plan, const plan::Lane &lane) {
  return lane.kind == plan::LaneKind::Group ? plan.groups[lane.group].message : lane.message;
}

const plan::Loop *loopAround(const plan::Program &program, std::uint32_t action) {
  for (const plan::Loop &loop : program.loops)
    if (loop.begin <= action && action < loop.end)
      return &loop;
  return nullptr;
}

/// Start of the segment of an action outside loops: behind the last loop before it.
std::int64_t startBehindLoops(const plan::Program &program, std::uint32_t action) {
  std::int64_t start = 0;
  for (const plan::Loop &loop : program.loops)
    if (loop.end <= action)
      start = loop.start + static_cast<std::int64_t>(loop.trips) * loop.period;
  return start;
}

/// A send and its receive differ in opcode only; both count as `send`.
std::uint64_t commonOpcode(const plan::Action &action) {
  const bool receives = action.opcode == plan::code(plan::Opcode::Receive);
  return receives ? plan::code(plan::Opcode::Send) : action.opcode;
}

std::uint64_t hashOf(const plan::Plan &plan, const plan::Program &program, std::uint32_t lane) {
  const plan::Message &message = messageOf(plan, program.lanes[lane]);
  std::vector<Transfer> transfers;
  for (std::uint32_t index = 0; index < program.actions.size(); ++index) {
    const plan::Action &action = program.actions[index];
    if (action.lane != lane)
      continue;
    const plan::Loop *loop = loopAround(program, index);
    Transfer transfer{
        .index = transfers.size(), .opcode = commonOpcode(action), .base = action.time};
    transfer.loop = loop ? loop->id + std::uint64_t(1) : 0;
    transfer.trips = loop ? loop->trips : 0;
    transfer.period = loop ? loop->period : 0;
    transfer.start = loop ? loop->start : startBehindLoops(program, index);
    transfer.fixed = message.fixed;
    transfer.perToken = message.perToken;
    transfer.type = static_cast<std::uint64_t>(message.type);
    transfer.microbatch = message.perToken == 0 ? 0 : action.microbatch; // it decides the bytes
    transfer.step = message.perToken == 0 ? 0 : action.step;
    transfers.push_back(transfer);
  }
  return XXH3_64bits(transfers.data(), transfers.size() * sizeof(Transfer));
}

bool isSource(const RankEnds &ends, const End &end) {
  if (end.kind != plan::LaneKind::Group)
    return end.kind == plan::LaneKind::Send;
  return end.operation != plan::Collective::Broadcast || end.members[end.root] == ends.rank;
}

bool isDestination(const RankEnds &ends, const End &end) {
  if (end.kind != plan::LaneKind::Group)
    return end.kind == plan::LaneKind::Receive;
  const bool isRoot = end.members[end.root] == ends.rank;
  return end.operation == plan::Collective::AllGather ||
         isRoot == (end.operation == plan::Collective::Gather);
}

} // namespace

std::vector<Claim> claimsOf(const plan::Plan &plan, std::uint32_t rank, plan::Hash128 planId) {
  const plan::Program &program = *plan::programOf(plan, rank);
  const std::vector<std::uint32_t> ends = endsOfLanes(program);
  std::vector<Claim> claims;
  for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane)
    if (ends[lane] != kNoEnd)
      claims.push_back({.planId = planId, .stream = hashOf(plan, program, lane), .rank = rank});
  return claims;
}

Agreement::Agreement(const RankEnds &rankEnds, std::vector<Claim> ownClaims)
    : ends(rankEnds), claims(std::move(ownClaims)), heard(ends.ends.size()) {
  for (std::size_t index = 0; index < ends.ends.size(); ++index) {
    const End &end = ends.ends[index];
    const bool collects =
        end.kind == plan::LaneKind::Group && end.operation != plan::Collective::Broadcast;
    if (isDestination(ends, end))
      heard[index].resize(collects ? end.members.size() : 1);
  }
}

Status Agreement::reach(Transport &transport) {
  // All ends first, then all waits: nobody waits for a peer that waits for somebody else.
  for (std::uint32_t index = 0; index < ends.ends.size(); ++index) {
    const Payload payload{.source = isSource(ends, ends.ends[index]) ? &claims[index] : nullptr,
                          .destination = heard[index].empty() ? nullptr : heard[index].data(),
                          .bytes = sizeof(Claim)};
    if (Status status = transport.post(index, payload); !status.ok())
      return status;
  }
  for (std::uint32_t index = 0; index < ends.ends.size(); ++index) {
    if (Status status = transport.await(index, 1); !status.ok())
      return status;
    if (Status status = compare(index); !status.ok())
      return status;
  }
  return Status();
}

Status Agreement::compare(std::size_t end) const {
  for (const Claim &other : heard[end]) {
    if (other.planId != claims[end].planId)
      return Status(StatusCode::Unacceptable,
                    fmt::format("rank {} runs another plan than rank {}", other.rank, ends.rank));
    if (other.stream != claims[end].stream)
      return Status(
          StatusCode::Unacceptable,
          fmt::format("rank {} and rank {} disagree about the times, bytes or types on {}",
                      other.rank, ends.rank, describe(ends.ends[end], ends.rank)));
  }
  return Status();
}

} // namespace vime
