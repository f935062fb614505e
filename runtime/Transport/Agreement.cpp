#include "runtime/Transport/Agreement.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include <fmt/format.h>
#include <xxhash.h>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Transport/Ends.h"

namespace vime {
namespace {

/// One transfer as both ends see it, whatever loops over microbatches their programs have. All
/// fields are 64 bits wide: no padding enters the hash.
struct Transfer {
  std::uint64_t opcode, loop, trips; // of the loop over steps
  std::int64_t period, start, time;  // time within an iteration
  std::uint64_t microbatch;
  std::uint64_t condition, until; // entries of the plan's table, of its case and of the loop
  std::uint64_t perTrip;          // of the loop over microbatches
  std::uint64_t bytes = 0;        // where the message does not say
};

/// The transfers of one lane, in order: a hash of so many at a time and of those before, so that it
/// takes no more memory for a million of them.
class Stream {
public:
  explicit Stream(const plan::Message &message)
      : perToken(message.perToken),
        fields{message.fixed, perToken, static_cast<std::uint64_t>(message.type)} {}

  void add(Transfer transfer) {
    if (perToken == 0)
      transfer.microbatch = 0; // it does not decide the bytes
    pending.push_back(transfer);
    ++count;
    if (pending.size() == kAtOnce)
      flush();
  }
  std::uint64_t hash() {
    flush();
    fields.back() = count;
    return XXH3_64bits_withSeed(fields.data(), sizeof fields, known);
  }

private:
  static constexpr std::size_t kAtOnce = 256;

  void flush() {
    known = XXH3_64bits_withSeed(pending.data(), pending.size() * sizeof(Transfer), known);
    pending.clear();
  }

  std::uint64_t perToken;
  std::array<std::uint64_t, 4> fields; // of the message, and how many there were
  std::vector<Transfer> pending;
  std::uint64_t known = 0, count = 0;
};

const plan::Message &messageOf(const plan::Plan &plan, const plan::Lane &lane) {
  return lane.kind == plan::LaneKind::Group ? plan.groups[lane.group].message : lane.message;
}

/// Of a call whose message does not state them.
std::uint64_t operandBytes(const plan::Program &program, const plan::Layout &layout,
                           const plan::Action &action) {
  return layout.buffers[program.operands[action.operands]].bytes;
}

/// A send and its receive differ in opcode only; both count as `send`.
std::uint64_t commonOpcode(const plan::Action &action) {
  const bool receives = action.opcode == plan::code(plan::Opcode::Receive);
  return receives ? plan::code(plan::Opcode::Send) : action.opcode;
}

Transfer transferOf(const plan::Stretch &stretch, const plan::Action &action,
                    std::uint32_t iteration) {
  const plan::Loop *steps = stretch.steps;
  return {.opcode = commonOpcode(action),
          .loop = steps ? steps->id + std::uint64_t(1) : 0,
          .trips = steps ? steps->trips : 0,
          .period = steps ? steps->period : 0,
          .start = steps ? steps->start : 0,
          .time = stretch.start - (steps ? steps->start : 0) +
                  std::int64_t(iteration) * stretch.period + action.time,
          .microbatch = stretch.microbatchOf(action, iteration),
          .condition = stretch.within ? stretch.within->condition : std::uint64_t(0),
          .until = steps ? steps->until : std::uint64_t(0),
          .perTrip = stretch.loop ? stretch.loop->perTrip : std::uint64_t(0)};
}

/// By end (Ends.h).
std::vector<Stream> streamsOf(const plan::Plan &plan, std::uint32_t rank) {
  const plan::Program &program = *plan::programOf(plan, rank);
  const plan::Layout &layout = *plan::layoutOf(plan, rank);
  const std::vector<std::uint32_t> ends = endsOfLanes(program);
  std::vector<Stream> streams;
  for (std::size_t lane = 0; lane < ends.size(); ++lane)
    if (ends[lane] != kNoEnd)
      streams.emplace_back(messageOf(plan, program.lanes[lane]));
  for (const plan::Stretch &stretch : plan::stretchesOf(program))
    for (std::uint32_t iteration = 0; iteration < stretch.trips; ++iteration)
      for (std::uint32_t index = stretch.begin; index < stretch.end; ++index) {
        const plan::Action &action = program.actions[index];
        const std::uint32_t end = ends[action.lane];
        if (end == kNoEnd)
          continue;
        Transfer transfer = transferOf(stretch, action, iteration);
        const plan::Lane &lane = program.lanes[action.lane];
        if (lane.kind == plan::LaneKind::Group &&
            plan::movesOperands(plan.groups[lane.group].operation))
          transfer.bytes = operandBytes(program, layout, action);
        streams[end].add(transfer);
      }
  return streams;
}

bool sums(const End &end) {
  return end.kind == plan::LaneKind::Group && plan::addsUp(end.operation);
}

bool scatters(const End &end) { return end.operation == plan::Collective::ReduceScatter; }

bool broadcasts(const End &end) {
  return end.operation == plan::Collective::Broadcast ||
         end.operation == plan::Collective::BroadcastWeights;
}

bool isSource(const RankEnds &ends, const End &end) {
  if (end.kind != plan::LaneKind::Group)
    return end.kind == plan::LaneKind::Send;
  return !broadcasts(end) || end.members[end.root] == ends.rank;
}

bool isDestination(const RankEnds &ends, const End &end) {
  if (end.kind != plan::LaneKind::Group)
    return end.kind == plan::LaneKind::Receive;
  const bool isRoot = end.members[end.root] == ends.rank;
  return end.operation == plan::Collective::AllGather ||
         end.operation == plan::Collective::Unshard || sums(end) ||
         isRoot == (end.operation == plan::Collective::Gather);
}

} // namespace

std::vector<Claim> claimsOf(const plan::Plan &plan, std::uint32_t rank, plan::Hash128 planId,
                            std::uint64_t firstStep) {
  std::vector<Claim> claims;
  for (Stream &stream : streamsOf(plan, rank))
    claims.push_back(
        {.planId = planId, .stream = stream.hash(), .rank = rank, .firstStep = firstStep});
  return claims;
}

Agreement::Agreement(const RankEnds &rankEnds, std::vector<Claim> ownClaims)
    : ends(rankEnds), claims(std::move(ownClaims)), order(ends.ends.size()),
      heard(ends.ends.size()) {
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {},
                    [this](std::uint32_t end) { return streamKeyOf(ends.ends[end], ends.rank); });
  for (std::size_t index = 0; index < ends.ends.size(); ++index) {
    const End &end = ends.ends[index];
    const bool collects = end.kind == plan::LaneKind::Group && !broadcasts(end);
    if (isDestination(ends, end))
      heard[index].resize(collects ? end.members.size() : 1);
  }
}

Status Agreement::reach(Transport &transport) {
  // One order for all ranks, as a clock gives: no transport that serialises ends closes a cycle.
  for (const std::uint32_t index : order)
    if (Status status = transport.post(index, payloadOf(index)); !status.ok())
      return status;
  for (const std::uint32_t index : order) {
    if (Status status = transport.await(index, 1); !status.ok())
      return status;
    if (Status status = compare(index); !status.ok())
      return status;
  }
  return Status();
}

Payload Agreement::payloadOf(std::size_t index) {
  const End &end = ends.ends[index];
  Payload payload{.source = isSource(ends, end) ? &claims[index] : nullptr,
                  .destination = heard[index].empty() ? nullptr : heard[index].data(),
                  .bytes = sizeof(Claim)};
  if (!sums(end))
    return payload;
  // Everybody adds zeros to what the others claim; where each gets its own part of the sum alone,
  // to what the member before it claims, which is enough round the circle.
  const std::size_t own = partyOf(end, ends.rank), members = heard[index].size();
  heard[index][scatters(end) ? (own + 1) % members : own] = claims[index];
  payload.bytes = heard[index].size() * sizeof(Claim);
  payload.type = DataType::Byte;
  payload.staging = staging.data();
  payload.stagingBytes = staging.size();
  return payload;
}

Status Agreement::compare(std::size_t end) const {
  std::span<const Claim> others = heard[end];
  if (scatters(ends.ends[end]))
    others = others.subspan(partyOf(ends.ends[end], ends.rank), 1);
  for (const Claim &other : others) {
    if (other.planId != claims[end].planId)
      return Status(StatusCode::Unacceptable,
                    fmt::format("rank {} runs another plan than rank {}", other.rank, ends.rank));
    if (other.firstStep != claims[end].firstStep)
      return Status(StatusCode::Unacceptable,
                    fmt::format("rank {} goes on behind step {} and rank {} behind step {}",
                                other.rank, other.firstStep, ends.rank, claims[end].firstStep));
    if (other.stream != claims[end].stream)
      return Status(
          StatusCode::Unacceptable,
          fmt::format("rank {} and rank {} disagree about the times, bytes or types on {}",
                      other.rank, ends.rank, describe(ends.ends[end], ends.rank)));
  }
  return Status();
}

} // namespace vime
