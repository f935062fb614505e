#include "runtime/Transport/LocalTransport.h"

#include <map>

#include <fmt/format.h>

#include "runtime/Transport/Ends.h"
#include "runtime/Transport/Meeting.h"

namespace vime {
namespace {

std::shared_ptr<Meeting> makeMeeting(const End &end) {
  if (end.kind != plan::LaneKind::Group)
    return std::make_shared<Meeting>(2, 0, exchangeMessage);
  return std::make_shared<Meeting>(std::uint32_t(end.members.size()), end.root,
                                   exchangeOf(end.operation));
}

class LocalTransport final : public Transport {
public:
  LocalTransport(const RankEnds &ends, Sleeper &sleeper, std::vector<Sleeper *> everybody,
                 std::chrono::nanoseconds limit)
      : spec(ends), sleeper(sleeper), everybody(std::move(everybody)), limit(limit) {}

  void add(std::shared_ptr<Meeting> meeting, std::uint32_t party) {
    meeting->join(party, sleeper);
    seats.push_back({std::move(meeting), party});
  }

  Status post(std::uint32_t end, Payload payload) override {
    const Seat &seat = seats[end];
    const std::uint64_t posted = seat.meeting->posted(seat.party);
    if (posted >= kOpenTransfers)
      if (Status status = await(end, posted + 1 - kOpenTransfers); !status.ok())
        return status;
    if (seat.meeting->arrive(seat.party, payload))
      return Status();
    return Status(
        StatusCode::Unacceptable,
        fmt::format("transfer {} of {} has {} bytes here and another size at the other end", posted,
                    describe(spec.ends[end], spec.rank), payload.bytes));
  }

  const std::atomic<std::uint64_t> &finished(std::uint32_t end) const override {
    return seats[end].meeting->finished(seats[end].party);
  }

  Status await(std::uint32_t end, std::uint64_t count) override {
    const std::atomic<std::uint64_t> &counter = finished(end);
    if (counter.load(std::memory_order_acquire) >= count)
      return Status();
    switch (sleeper.await(counter, count, limit)) {
    case Sleeper::Outcome::Reached:
      return Status();
    case Sleeper::Outcome::Interrupted:
      return Status(StatusCode::Interrupted, "stopped because the run is over");
    case Sleeper::Outcome::Late:
      break;
    }
    return Status(StatusCode::Hang, fmt::format("{} did not come to transfer {} of {} within {} s",
                                                lateOne(end, counter.load()), counter.load(),
                                                describe(spec.ends[end], spec.rank),
                                                std::chrono::duration<double>(limit).count()));
  }

  void abort() override {
    for (Sleeper *other : everybody)
      other->interrupt();
  }

private:
  struct Seat {
    std::shared_ptr<Meeting> meeting;
    std::uint32_t party;
  };

  std::string lateOne(std::uint32_t end, std::uint64_t index) const {
    const End &spec = this->spec.ends[end];
    const int party = seats[end].meeting->missing(index);
    if (party < 0)
      return "a peer";
    if (spec.kind == plan::LaneKind::Group)
      return fmt::format("rank {}", spec.members[party]);
    return fmt::format("rank {}",
                       std::uint32_t(party) == seats[end].party ? this->spec.rank : spec.peer);
  }

  const RankEnds spec;
  Sleeper &sleeper;
  const std::vector<Sleeper *> everybody;
  const std::chrono::nanoseconds limit;
  std::vector<Seat> seats; // by end
};

} // namespace

StatusOr<LocalTransports> connectLocal(std::span<const RankEnds> ranks,
                                       std::span<Sleeper *const> sleepers,
                                       std::chrono::nanoseconds limit) {
  const std::vector<Sleeper *> everybody(sleepers.begin(), sleepers.end());
  std::map<StreamKey, std::shared_ptr<Meeting>> meetings;
  LocalTransports transports;
  for (const RankEnds &rank : ranks) {
    if (Status status = checkCaps(rank); !status.ok())
      return status;
    auto transport = std::make_unique<LocalTransport>(rank, *sleepers[rank.rank], everybody, limit);
    for (const End &end : rank.ends) {
      std::shared_ptr<Meeting> &meeting = meetings[streamKeyOf(end, rank.rank)];
      if (!meeting)
        meeting = makeMeeting(end);
      const std::uint32_t party = partyOf(end, rank.rank);
      if (party >= meeting->size() || meeting->taken(party))
        return Status(StatusCode::Unacceptable,
                      fmt::format("rank {} does not fit into {}, or appears in it twice", rank.rank,
                                  describe(end, rank.rank)));
      transport->add(meeting, party);
    }
    transports.push_back(std::move(transport));
  }
  for (const RankEnds &rank : ranks)
    for (const End &end : rank.ends)
      if (!meetings[streamKeyOf(end, rank.rank)]->complete())
        return Status(StatusCode::Unacceptable, fmt::format("{} of rank {} has no counterpart",
                                                            describe(end, rank.rank), rank.rank));
  return transports;
}

} // namespace vime
