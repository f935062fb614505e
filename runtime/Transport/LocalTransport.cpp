#include "runtime/Transport/LocalTransport.h"

#include <map>

#include <fmt/format.h>

#include "runtime/Transport/Channel.h"
#include "runtime/Transport/Cores.h"
#include "runtime/Transport/Ends.h"
#include "runtime/Transport/Meeting.h"

namespace vime {
namespace {

class LocalTransport final : public Transport {
public:
  LocalTransport(const RankEnds &spec, std::span<Sleeper *const> everybody,
                 std::shared_ptr<Cores> cores, std::chrono::nanoseconds limit)
      : spec(spec), sleeper(*everybody[spec.rank]), everybody(everybody.begin(), everybody.end()),
        cores(std::move(cores)), limit(limit), ends(spec.ends.size()) {}

  void give(std::uint32_t end, std::unique_ptr<LocalEnd> own) {
    if (spec.ends[end].kind == plan::LaneKind::Receive)
      receivers.push_back(own.get());
    ends[end] = std::move(own);
  }

  Status post(std::uint32_t end, Payload payload) override {
    LocalEnd &own = *ends[end];
    if (!own.hasRoom()) {
      own.askForRoom();
      if (Status status = awaitUntil(end, [&own] { return own.hasRoom(); }); !status.ok())
        return status;
    }
    return own.post(payload) ? Status() : disagreement(end, own.posted() - 1);
  }

  const std::atomic<std::uint64_t> &finished(std::uint32_t end) const override {
    return ends[end]->finished();
  }

  Status await(std::uint32_t end, std::uint64_t count) override {
    LocalEnd &own = *ends[end];
    const auto isFinished = [&own, count] { return own.finished().load() >= count; };
    bool agrees = true;
    if (isFinished() || ((agrees = own.look()) && isFinished()))
      return Status();
    if (agrees)
      if (Status status = awaitUntil(end,
                                     [&] {
                                       agrees = own.look();
                                       return !agrees || isFinished();
                                     });
          !status.ok())
        return status;
    return agrees ? Status() : disagreement(end, own.finished());
  }

  void abort() override {
    for (Sleeper *other : everybody)
      other->interrupt();
  }

private:
  template <typename IsReached> Status awaitUntil(std::uint32_t end, IsReached isReached) {
    cores->note(spec.rank);
    if (sleeper.linger(isReached) ||
        (sleeper.spins() && cores->spread(spec.rank) && sleeper.linger(isReached)))
      return Status();
    const auto takeAll = [&] { // of all channels, before it sleeps: see Channel.h
      for (LocalEnd *receiver : receivers)
        receiver->look();
      return isReached();
    };
    switch (sleeper.sleep(takeAll, ends[end]->cause(), limit)) {
    case Sleeper::Outcome::Reached:
      return Status();
    case Sleeper::Outcome::Interrupted:
      return Status(StatusCode::Interrupted, "stopped because the run is over");
    case Sleeper::Outcome::Late:
      break;
    }
    const std::uint64_t index = ends[end]->finished();
    return Status(StatusCode::Hang,
                  fmt::format("{} did not come to transfer {} of {} within {} s",
                              lateOne(end, index), index, describe(spec.ends[end], spec.rank),
                              std::chrono::duration<double>(limit).count()));
  }

  Status disagreement(std::uint32_t end, std::uint64_t index) const {
    return Status(StatusCode::Unacceptable,
                  fmt::format("transfer {} of {} has another size at the other end", index,
                              describe(spec.ends[end], spec.rank)));
  }

  std::string lateOne(std::uint32_t end, std::uint64_t index) const {
    const End &spec = this->spec.ends[end];
    const int party = ends[end]->missing(index);
    if (party < 0)
      return "a peer";
    return fmt::format("rank {}",
                       spec.kind == plan::LaneKind::Group ? spec.members[party] : spec.peer);
  }

  const RankEnds spec;
  Sleeper &sleeper;
  const std::vector<Sleeper *> everybody;
  const std::shared_ptr<Cores> cores;
  const std::chrono::nanoseconds limit;
  std::vector<std::unique_ptr<LocalEnd>> ends;
  std::vector<LocalEnd *> receivers; // of `ends`
};

/// The ends of one channel or group, by party; no rank where one is missing.
struct Stream {
  struct Seat {
    std::uint32_t rank = kNoEnd, end = kNoEnd;
  };
  const End *spec = nullptr;
  std::vector<Seat> seats;
};
using Streams = std::map<StreamKey, Stream>;

StatusOr<Streams> seat(std::span<const RankEnds> ranks) {
  Streams streams;
  for (const RankEnds &rank : ranks)
    for (std::uint32_t index = 0; index < rank.ends.size(); ++index) {
      const End &end = rank.ends[index];
      Stream &stream = streams[streamKeyOf(end, rank.rank)];
      if (!stream.spec)
        stream = {&end, std::vector<Stream::Seat>(
                            end.kind == plan::LaneKind::Group ? end.members.size() : 2)};
      const std::uint32_t party = partyOf(end, rank.rank);
      if (party >= stream.seats.size() || stream.seats[party].rank != kNoEnd)
        return Status(StatusCode::Unacceptable,
                      fmt::format("rank {} does not fit into {}, or appears in it twice", rank.rank,
                                  describe(end, rank.rank)));
      stream.seats[party] = {rank.rank, index};
    }
  return streams;
}

void join(const Stream &stream, std::span<Sleeper *const> sleepers,
          std::span<LocalTransport *const> transports) {
  const auto give = [&](std::uint32_t party, std::unique_ptr<LocalEnd> end) {
    const auto [rank, index] = stream.seats[party];
    transports[rank]->give(index, std::move(end));
  };
  if (stream.spec->kind != plan::LaneKind::Group) {
    const auto channel =
        std::make_shared<Channel>(*sleepers[stream.seats[0].rank], *sleepers[stream.seats[1].rank]);
    give(0, std::make_unique<ChannelSender>(channel));
    give(1, std::make_unique<ChannelReceiver>(channel));
    return;
  }
  const auto parties = static_cast<std::uint32_t>(stream.seats.size());
  const auto meeting =
      std::make_shared<Meeting>(parties, stream.spec->root, exchangeOf(stream.spec->operation));
  for (std::uint32_t party = 0; party < parties; ++party) {
    meeting->join(party, *sleepers[stream.seats[party].rank]);
    give(party, std::make_unique<MeetingEnd>(meeting, party));
  }
}

} // namespace

StatusOr<LocalTransports> connectLocal(std::span<const RankEnds> ranks,
                                       std::span<Sleeper *const> sleepers,
                                       std::chrono::nanoseconds limit) {
  for (const RankEnds &rank : ranks)
    if (Status status = checkCaps(rank); !status.ok())
      return status;
  const StatusOr<Streams> streams = seat(ranks);
  if (!streams.ok())
    return streams.status();
  for (const RankEnds &rank : ranks)
    for (const End &end : rank.ends)
      for (const Stream::Seat &seat : streams->at(streamKeyOf(end, rank.rank)).seats)
        if (seat.rank == kNoEnd)
          return Status(StatusCode::Unacceptable, fmt::format("{} of rank {} has no counterpart",
                                                              describe(end, rank.rank), rank.rank));
  const auto cores = std::make_shared<Cores>(static_cast<std::uint32_t>(ranks.size()));
  LocalTransports transports;
  std::vector<LocalTransport *> own;
  for (const RankEnds &rank : ranks) {
    own.push_back(new LocalTransport(rank, sleepers, cores, limit));
    transports.emplace_back(own.back());
  }
  for (const auto &[key, stream] : *streams)
    join(stream, sleepers, own);
  return transports;
}

} // namespace vime
