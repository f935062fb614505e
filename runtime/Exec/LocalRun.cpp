#include "runtime/Exec/LocalRun.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/Exec/InterruptSignals.h"
#include "runtime/Exec/RankRun.h"
#include "runtime/Exec/RunOutcome.h"
#include "runtime/Exec/Watchdog.h"
#include "runtime/Trace/FlightRecords.h"
#include "runtime/Transport/Cores.h"
#include "runtime/Transport/LocalTransport.h"

namespace vime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookMilliseconds = 50; // while ranks are to stop

/// Readable once `signal` was called.
class Event {
public:
  Event() : file(eventfd(0, EFD_CLOEXEC)) {}
  ~Event() { close(file); }
  Event(const Event &) = delete;
  void signal() { eventfd_write(file, 1); }
  int descriptor() const { return file; }

private:
  const int file;
};

class Ranks {
public:
  Ranks(const plan::Plan &plan, plan::Hash128 planId, const RunOptions &options,
        RunObserver &observer, ExportClaim &claim, flight::FlightRecords &records)
      : plan(plan), planId(planId), options(options), observer(observer), claim(claim),
        records(records), runs(plan.mesh.ranks()), running(plan.mesh.ranks()) {
    const bool spins = plan.mesh.ranks() <= availableCores();
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
      sleepers.push_back(std::make_unique<Sleeper>(spins));
      pointers.push_back(sleepers.back().get());
    }
  }

  Status connect() {
    std::vector<RankEnds> ends;
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
      StatusOr<RankEnds> own = endsOf(plan, rank);
      if (!own.ok())
        return own.status();
      ends.push_back(std::move(*own));
    }
    const std::chrono::nanoseconds limit = peerLimit(plan, /*seesAll=*/true);
    StatusOr<LocalTransports> connected =
        options.rendezvous ? connectRendezvous(ends, pointers, limit, *options.rendezvous)
                           : connectLocal(ends, pointers, limit);
    if (!connected.ok())
      return connected.status();
    transports = std::move(*connected);
    return Status();
  }

  Status run() {
    std::vector<std::thread> threads;
    threads.reserve(plan.mesh.ranks());
    std::optional<Watchdog> watchdog;
    try {
      watchdog.emplace(plan, recorders(), transferLimit(plan),
                       [this](std::uint32_t rank, const Status &status, bool blamesPeer) {
                         stop(rank, status, /*own=*/!blamesPeer);
                       });
      for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
        threads.emplace_back([this, rank] { runRank(rank); });
    } catch (const std::system_error &error) {
      giveUpStarting(static_cast<std::uint32_t>(threads.size()), error.code().message());
    }
    if (!awaitEnd())
      abandon();
    for (std::thread &thread : threads)
      thread.join();
    return records.conclude(outcome.status(), plan);
  }

private:
  /// Until all ranks have stopped. False when the run has failed, or the user wants it to end, and
  /// a rank does not stop, or the user cannot wait.
  bool awaitEnd() {
    enum { Over, Failed, Interrupt };
    pollfd files[] = {{over.descriptor(), POLLIN, 0},
                      {failed.descriptor(), POLLIN, 0},
                      {options.interrupts, POLLIN, 0}};
    std::optional<Clock::time_point> since; // when the end began
    for (bool asked = false;;) {
      poll(files, std::size(files), since ? kLookMilliseconds : -1);
      if (files[Over].revents & POLLIN)
        return true;
      if ((since && Clock::now() - *since >= stopLimit()) ||
          (asked && (files[Interrupt].revents & POLLIN)))
        return false;
      if (files[Interrupt].revents & POLLIN) {
        asked = true;
        consumeInterrupt(options.interrupts);
        outcome.interrupt();
        transports.front()->abort();
      }
      if (!since)
        since = Clock::now();
      files[Failed].fd = -1; // said all it has to say
    }
  }

  /// Looked up anew: what ranks say first need not be the cause.
  Clock::duration stopLimit() const {
    return outcome.status().code() == StatusCode::Hang ? Clock::duration(kHangStopLimit)
                                                       : Clock::duration(kStopLimit);
  }

  std::vector<flight::FlightRecorder *> recorders() {
    std::vector<flight::FlightRecorder *> all;
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
      all.push_back(&records.of(rank));
    return all;
  }

  void abandon() {
    claim.drop();
    if (options.abandon)
      options.abandon(records.conclude(outcome.status(), plan));
  }

  /// Threads before `rank` run, its own and those behind it never will.
  void giveUpStarting(std::uint32_t rank, const std::string &reason) {
    outcome.record(
        Status(StatusCode::Unacceptable,
               fmt::format("cannot start rank {} of {}: {}\nhelp: this machine allows no "
                           "more threads or memory; see `ulimit -a`",
                           rank, plan.mesh.ranks(), reason)));
    transports.front()->abort();
    failed.signal();
    if ((running -= plan.mesh.ranks() - rank) == 0)
      over.signal();
  }

  void runRank(std::uint32_t rank) {
    if (Status status = withoutExceptions(rank); !status.ok())
      stop(rank, status, runs[rank] && runs[rank]->failedItself());
    if (--running == 0)
      over.signal();
  }

  /// Ends the run because of a rank.
  void stop(std::uint32_t rank, const Status &status, bool own = false) {
    outcome.record(status, own);
    transports[rank]->abort();
    failed.signal();
  }

  /// What the standard library throws must not leave the thread.
  Status withoutExceptions(std::uint32_t rank) {
    try {
      return prepareAndExecute(rank);
    } catch (const std::bad_alloc &) {
      return Status(StatusCode::Unacceptable, fmt::format("no memory is left for rank {}", rank));
    } catch (const std::system_error &error) {
      return Status(StatusCode::Unacceptable, fmt::format("cannot start the threads of rank {}: {}",
                                                          rank, error.code().message()));
    } catch (const std::exception &error) {
      return Status(StatusCode::Internal, fmt::format("rank {}: {}", rank, error.what()));
    }
  }

  Status prepareAndExecute(std::uint32_t rank) {
    StatusOr<std::unique_ptr<RankRun>> run = RankRun::prepare({.plan = plan,
                                                               .planId = planId,
                                                               .rank = rank,
                                                               .base = options.base,
                                                               .isa = options.isa,
                                                               .observer = observer,
                                                               .edge = options.edge,
                                                               .recorder = &records.of(rank),
                                                               .resume = options.resume,
                                                               .replay = options.replay,
                                                               .trace = options.trace,
                                                               .probe = options.probe});
    if (!run.ok()) {
      records.of(rank).fail(run.status(), /*blamesPeer=*/false);
      return run.status();
    }
    runs[rank] = std::move(*run);
    return runs[rank]->execute(*transports[rank], *sleepers[rank]);
  }

  const plan::Plan &plan;
  const plan::Hash128 planId;
  const RunOptions &options;
  RunObserver &observer;
  ExportClaim &claim;
  flight::FlightRecords &records;
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  std::vector<Sleeper *> pointers;
  LocalTransports transports;
  std::vector<std::unique_ptr<RankRun>>
      runs; // until all have stopped: peers copy from their memory
  RunOutcome outcome;
  Event over, failed;
  std::atomic<std::uint32_t> running;
};

} // namespace

Status runLocal(const plan::Plan &plan, plan::Hash128 planId, const RunOptions &options,
                RunObserver &observer) {
  if (Status status = checkMemory(plan); !status.ok())
    return status;
  StatusOr<ExportClaim> claim = claimExport(plan, options.base);
  if (!claim.ok())
    return claim.status();
  StatusOr<flight::FlightRecords> records = flight::FlightRecords::open(
      plan, {.planId = planId, .planPath = options.plan, .folder = options.records});
  if (!records.ok())
    return records.status();
  Ranks ranks(plan, planId, options, observer, *claim, *records);
  if (Status status = ranks.connect(); !status.ok())
    return status;
  Status status = ranks.run();
  if (status.ok())
    observer.measured({0, plan.mesh.ranks(), mostResidentMemory()});
  return status;
}

} // namespace vime
