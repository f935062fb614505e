#include "runtime/Transport/RendezvousBoard.h"

#include <fmt/format.h>

namespace vime::rendezvous {

Status Board::seat(QueueMerging merging) {
  for (const RankEnds &rank : ends) {
    queues[rank.rank].resize(rank.ends.size());
    const std::vector<std::uint32_t> queueOf = queuesOf(rank, merging);
    for (std::size_t end = 0; end < rank.ends.size(); ++end) {
      Party &party = parties[rank.rank].emplace_back();
      party.rank = rank.rank;
      party.end = &rank.ends[end];
      party.queue = &queues[rank.rank][queueOf[end]];
      if (Status status = sit(party); !status.ok())
        return status;
    }
  }
  for (const auto &[key, stream] : streams)
    for (const Party *party : stream.parties)
      if (!party)
        return Status(StatusCode::Unacceptable,
                      fmt::format("a channel or group of {} ranks has a place that nobody takes",
                                  stream.parties.size()));
  return Status();
}

Status Board::sit(Party &party) {
  const End &end = *party.end;
  const bool isGroup = end.kind == plan::LaneKind::Group;
  Stream &stream = streams[streamKeyOf(end, party.rank)];
  if (stream.parties.empty()) {
    stream.parties.resize(isGroup ? end.members.size() : 2);
    stream.root = end.root;
    stream.exchange = isGroup ? exchangeOf(end.operation) : exchangeMessage;
  }
  const std::uint32_t place = partyOf(end, party.rank);
  if (place >= stream.parties.size() || stream.parties[place])
    return Status(StatusCode::Unacceptable,
                  fmt::format("rank {} does not fit into {}, or appears in it twice", party.rank,
                              party.name()));
  stream.parties[place] = &party;
  party.stream = &stream;
  return Status();
}

Status Board::post(Party &party, const Payload &payload) {
  const std::lock_guard lock(mutex);
  ++party.posted;
  party.queue->push_back({&party, payload});
  if (party.isAtHead())
    meet(*party.stream);
  return failure;
}

/// Lets a stream's transfer happen if all its ends are at the head, then those that stood behind.
void Board::meet(Stream &first) {
  std::vector<Stream *> due = {&first};
  while (!due.empty()) {
    Stream &stream = *due.back();
    due.pop_back();
    if (!exchange(stream))
      continue;
    for (const Party *party : stream.parties)
      if (!party->queue->empty())
        due.push_back(party->queue->front().party->stream);
  }
}

bool Board::exchange(Stream &stream) {
  std::vector<Payload> payloads;
  for (const Party *party : stream.parties) {
    if (!party->isAtHead())
      return false;
    payloads.push_back(party->queue->front().payload);
  }
  for (std::size_t place = 0; place < payloads.size(); ++place)
    if (payloads[place].bytes != payloads[0].bytes) {
      fail(Status(StatusCode::Unacceptable,
                  fmt::format("transfer {} of {} has {} bytes at rank {} and {} at rank {}",
                              stream.parties[0]->finished.load(), stream.parties[0]->name(),
                              payloads[0].bytes, stream.parties[0]->rank, payloads[place].bytes,
                              stream.parties[place]->rank)));
      return false;
    }
  stream.exchange(payloads, stream.root);
  for (Party *party : stream.parties) {
    party->queue->pop_front();
    sleepers[party->rank]->advance(party->finished, party->finished.load() + 1);
  }
  return true;
}

Status Board::await(const Party &party, std::uint64_t count, std::chrono::nanoseconds limit) {
  Wanted &own = wanted[party.rank];
  {
    const std::lock_guard lock(mutex);
    own = {&party, count};
    if (failure.ok() && isStuck())
      fail(stuck());
  }
  const Sleeper::Outcome outcome = sleepers[party.rank]->await(party.finished, count, limit);
  const std::lock_guard lock(mutex);
  own = {};
  if (outcome == Sleeper::Outcome::Reached)
    return Status();
  if (!failure.ok())
    return failure;
  if (outcome == Sleeper::Outcome::Interrupted)
    return Status(StatusCode::Interrupted, "stopped because the run is over");
  return late(party, limit);
}

void Board::fail(Status status) {
  failure = std::move(status);
  stop();
}

/// Only the rank's own thread posts: when all are blocked, nothing will ever move again.
bool Board::isStuck() const {
  for (const Wanted &rank : wanted)
    if (!rank.blocks())
      return false;
  return true;
}

Status Board::stuck() const {
  std::string text = "no transfer can happen any more:";
  for (std::uint32_t rank = 0; rank < wanted.size(); ++rank) {
    const Party &party = *wanted[rank].party;
    text += fmt::format("{} rank {} waits for transfer {} of {}", rank == 0 ? "" : ",", rank,
                        party.finished.load(), party.name());
    if (!party.queue->empty() && !party.isAtHead())
      text += fmt::format(" behind {}", party.queue->front().party->name());
  }
  return Status(StatusCode::Hang, text);
}

Status Board::late(const Party &party, std::chrono::nanoseconds limit) const {
  const std::uint64_t index = party.finished.load();
  const std::string what = fmt::format("transfer {} of {}", index, party.name());
  const double seconds = std::chrono::duration<double>(limit).count();
  for (const Party *other : party.stream->parties)
    if (other->posted <= index)
      return Status(StatusCode::Hang, fmt::format("rank {} did not come to {} within {} s",
                                                  other->rank, what, seconds));
  for (const Party *other : party.stream->parties)
    if (!other->isAtHead())
      return Status(StatusCode::Hang,
                    fmt::format("{} stood behind {} of rank {} for {} s", what,
                                other->queue->front().party->name(), other->rank, seconds));
  return Status(StatusCode::Internal, fmt::format("{} could happen and did not", what));
}

} // namespace vime::rendezvous
