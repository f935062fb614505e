#include "runtime/Trace/Diagnosis.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Describe.h"

namespace vime::flight {
namespace {

/// A live process says so ten times a second (Watchdog.h); this is more than a busy machine delays
/// that.
constexpr std::int64_t kSilence = 400'000'000;

/// A moment of a record by the wall clock, so that records of several machines compare.
std::int64_t wall(const Header &header, std::int64_t moment) {
  return header.startedWall + (moment - header.startedAt);
}

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

bool hasEnded(const FlightRecord &record) {
  return record.header.state == State::Done || record.header.state == State::Failed;
}

class Inquiry {
public:
  Inquiry(const plan::Plan &plan, const RecordsByRank &records) : plan(plan) {
    for (const FlightRecord *record : records)
      if (record)
        known.push_back(record);
    result.waits = waitsOf(plan, records);
    byRank = records;
  }

  Diagnosis run() {
    if (findKilled() || findFailed() || findStoppedTogether() || findVanished() || findSilent() ||
        findLostPeer() || followWaits())
      tellDetails();
    return std::move(result);
  }

private:
  template <typename Condition, typename Moment>
  const FlightRecord *earliest(Condition condition, Moment moment) const {
    const FlightRecord *first = nullptr;
    for (const FlightRecord *record : known)
      if (condition(*record) && (!first || moment(*record) < moment(*first)))
        first = record;
    return first;
  }

  static std::int64_t alive(const FlightRecord &record) {
    return wall(record.header, record.header.aliveAt);
  }
  static std::int64_t failed(const FlightRecord &record) {
    return wall(record.header, record.header.failedAt);
  }

  bool conclude(Cause cause, std::uint32_t rank, std::string why) {
    result.cause = cause;
    result.rank = rank;
    result.sentence = fmt::format("rank {} was first: {}", rank, why);
    return true;
  }

  bool findKilled() {
    const FlightRecord *first = earliest(
        [](const FlightRecord &record) { return record.header.ending == Ending::Signalled; },
        alive);
    if (!first)
      return false;
    const int signal = first->header.endingValue;
    return conclude(Cause::Killed, first->header.rank,
                    fmt::format("its process {} was ended by signal {}, {}", first->header.process,
                                signal, strsignal(signal)));
  }

  bool findFailed() {
    const FlightRecord *first = earliest(
        [](const FlightRecord &record) {
          return record.header.state == State::Failed && record.header.blamesPeer == 0;
        },
        failed);
    return first &&
           conclude(Cause::Failed, first->header.rank, "it failed: " + firstLineOf(first->header));
  }

  /// Ranks that are threads of one process which is gone.
  bool findStoppedTogether() {
    const bool together =
        known.size() > 1 && std::all_of(known.begin(), known.end(), [&](const auto *record) {
          return !hasEnded(*record) && record->header.ending == Ending::Unknown &&
                 record->header.process == known.front()->header.process &&
                 textOf(record->header.host) == textOf(known.front()->header.host);
        });
    if (!together)
      return false;
    result.cause = Cause::Stopped;
    result.rank = known.front()->header.rank;
    result.sentence = fmt::format("all ranks ended together: process {}, of which they are "
                                  "threads, was ended from outside, or is still running",
                                  known.front()->header.process);
    return true;
  }

  /// Others tell that they lost a peer; this one tells nothing any more.
  bool findVanished() {
    const bool peersFailed = std::any_of(known.begin(), known.end(), [](const auto *record) {
      return record->header.state == State::Failed &&
             record->header.failureCode == static_cast<std::uint32_t>(StatusCode::RankFailed);
    });
    const FlightRecord *first = earliest(
        [](const FlightRecord &record) {
          return !hasEnded(record) && record.header.ending == Ending::Unknown;
        },
        alive);
    return peersFailed && first &&
           conclude(Cause::Vanished, first->header.rank,
                    fmt::format("its record ends while its peers still told of losing it; its "
                                "process {} was ended from outside",
                                first->header.process));
  }

  bool findSilent() {
    std::int64_t last = 0;
    for (const FlightRecord *record : known)
      last = std::max(last, alive(*record));
    const FlightRecord *first =
        earliest([](const FlightRecord &record) { return !hasEnded(record); }, alive);
    if (!first || last - alive(*first) < kSilence)
      return false;
    return conclude(Cause::Silent, first->header.rank,
                    fmt::format("its process {} gave no sign of life for {:.1f} s: it was stopped, "
                                "or got no processor",
                                first->header.process, seconds(last - alive(*first))));
  }

  /// From who has waited longest to who does not wait for anybody.
  bool followWaits() {
    const FlightRecord *start = earliest(
        [](const FlightRecord &record) { return record.waits(); },
        [](const FlightRecord &record) { return wall(record.header, record.header.movedAt); });
    if (!start)
      return false;
    std::uint32_t rank = start->header.rank;
    for (std::size_t steps = 0; steps <= known.size(); ++steps) {
      const Wait *wait = waitOf(rank);
      if (!wait || wait->with.empty())
        return concludeStuck(rank);
      if (wait->isInTransit())
        return conclude(Cause::Transfer, rank,
                        fmt::format("{} did not come to it, though {} had sent or joined it",
                                    describe(plan, *wait), ranksInWords(wait->with)));
      rank = wait->on.front();
    }
    return false; // a circle: no verified plan has one
  }

  bool concludeStuck(std::uint32_t rank) {
    const FlightRecord *record = rank < byRank.size() ? byRank[rank] : nullptr;
    if (!record)
      return conclude(Cause::Stuck, rank, "others waited for it, and it left no record");
    if (record->header.state == State::Done)
      return false;
    const std::int64_t still = record->header.aliveAt - record->header.movedAt;
    return conclude(
        Cause::Stuck, rank,
        fmt::format("it did not go on for {:.1f} s", seconds(std::max<std::int64_t>(still, 0))));
  }

  /// A connection broke, and nobody had yet waited too long.
  bool findLostPeer() {
    const FlightRecord *first = earliest(
        [](const FlightRecord &record) {
          return record.header.state == State::Failed &&
                 record.header.failureCode != static_cast<std::uint32_t>(StatusCode::Interrupted);
        },
        [](const FlightRecord &record) {
          const bool waited =
              record.header.failureCode == static_cast<std::uint32_t>(StatusCode::Hang);
          return failed(record) - (waited ? kBreakingTime : 0);
        });
    return first &&
           first->header.failureCode == static_cast<std::uint32_t>(StatusCode::RankFailed) &&
           conclude(Cause::LostPeer, first->header.rank, firstLineOf(first->header));
  }

  void tellDetails() {
    const FlightRecord *record = result.rank < byRank.size() ? byRank[result.rank] : nullptr;
    if (record && result.cause != Cause::Stopped) {
      tellWorker(*record);
      result.details.push_back("it was " + wherePlaced(*record));
    }
    std::vector<std::uint32_t> waiting;
    for (const Wait &wait : result.waits)
      if (wait.rank != result.rank && !wait.with.empty())
        waiting.push_back(wait.rank);
    if (!waiting.empty() && result.cause != Cause::Stopped)
      result.details.push_back(ranksInWords(waiting) + " waited, directly or behind others");
  }

  std::string wherePlaced(const FlightRecord &record) const {
    std::string text = placeOf(plan, record);
    if (const ActionRecord *present = record.present())
      if (const std::string origin = originOf(plan, record.header.rank, present->action);
          !origin.empty())
        text += fmt::format(", which {}, asks for", origin);
    return text;
  }

  /// Where the dispatcher waits for a thread of its own, that thread's action is the one.
  void tellWorker(const FlightRecord &record) {
    const WorkerRecord *worker = record.workerOf(record.header.waitLane);
    if (!worker || worker->begun <= worker->finished)
      return;
    result.details.push_back(fmt::format(
        "its {} was in action {} ({})", plan::describeLane(plan, record.header.rank, worker->lane),
        worker->action, plan::describe(plan, record.header.rank, worker->action)));
  }

  const Wait *waitOf(std::uint32_t rank) const {
    for (const Wait &wait : result.waits)
      if (wait.rank == rank)
        return &wait;
    return nullptr;
  }

  static std::string firstLineOf(const Header &header) {
    const std::string text = textOf(header.failure);
    return text.substr(0, text.find('\n'));
  }

  const plan::Plan &plan;
  std::vector<const FlightRecord *> known;
  RecordsByRank byRank;
  Diagnosis result;
};

} // namespace

std::string_view nameOf(Cause cause) {
  constexpr std::string_view kNames[] = {"none",  "killed",   "failed",    "vanished", "silent",
                                         "stuck", "transfer", "lost peer", "stopped"};
  return kNames[static_cast<std::size_t>(cause)];
}

Diagnosis diagnose(const plan::Plan &plan, const RecordsByRank &records) {
  return Inquiry(plan, records).run();
}

} // namespace vime::flight
