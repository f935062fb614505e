#include "runtime/Exec/RankProcess.h"

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

#include <sys/prctl.h>

#include <fmt/format.h>

#include "runtime/Base/Counted.h"
#include "runtime/Exec/CheckpointCheck.h"
#include "runtime/Exec/RankProcessVariables.h"
#include "runtime/Exec/RankRecord.h"
#include "runtime/Exec/RankReports.h"
#include "runtime/Exec/RankRun.h"
#include "runtime/Exec/RunRoutine.h"
#include "runtime/Exec/Watchdog.h"
#include "runtime/Plan/PlanFile.h"
#include "runtime/Transport/GlooPlugin.h"
#include "runtime/Transport/Interfaces.h"
#include "runtime/Transport/RollCall.h"
#include "runtime/Transport/TcpStoreServer.h"

namespace vime {
namespace {

using Clock = std::chrono::steady_clock;

/// When all ranks must have met. Of a plan that cannot be read: when the others must have heard so.
Deadline connectDeadline(const StatusOr<plan::RankPlan> &mine) {
  const plan::Limits limits = mine.ok() ? mine->plan.limits : plan::Limits();
  return Clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::duration<double>(limits.connectSeconds));
}

/// While ranks meet, who waits in vain for an answer has lost somebody.
Status whileMeeting(const Status &status) {
  return status.code() == StatusCode::Hang ? Status(StatusCode::RankFailed, status.message())
                                           : status;
}

/// What a rank has before it meets the others.
struct Prepared {
  explicit Prepared(plan::RankPlan plan) : mine(std::move(plan)) {}
  plan::RankPlan mine;
  std::optional<ExportClaim> claim;
  std::unique_ptr<RankRun> run;
};

constexpr const char *kResumeKey = "resume"; // in the store: what rank 0 has chosen

class Rank {
public:
  Rank(const RankProcess &self, const RunOptions &options, RunObserver &observer,
       RankRecord &record)
      : self(self), options(options), observer(observer), record(record),
        recorder(record.recorder()) {}

  RankEnd run(const std::string &path, const Status &ready) {
    StatusOr<plan::RankPlan> mine = plan::readRankPlan(path, self.launch.rank);
    deadline = connectDeadline(mine);
    if (Status status = whileMeeting(openStore()); !status.ok())
      return {status};
    if (Status status = ready.ok() ? prepare(std::move(mine), path) : ready; !status.ok()) {
      if (self.launch.rank == 0)
        (void)store->set(kResumeKey, ""); // nobody is to wait for it
      excuse(*store, attendance, status);
      return {status};
    }
    recorder.enter(flight::State::Connecting);
    if (Status status = whileMeeting(callRoll(*store, attendance, deadline)); !status.ok())
      return {status, isOwnFailure(status.code())};
    others = record.openOthers(self); // each has its own before it meets the others
    StatusOr<std::unique_ptr<Transport>> transport = connect();
    if (!transport.ok())
      return {transport.status(), isOwnFailure(transport.status().code())};
    store.reset(); // no connection stays open that is not the plan's
    return execute(**transport);
  }

private:
  Status openStore() {
    const Launch &launch = self.launch;
    if (launch.hostsStore) {
      StatusOr<std::unique_ptr<TcpStoreServer>> hosted =
          TcpStoreServer::listen(/*address=*/"", launch.store.port);
      if (!hosted.ok())
        return hosted.status();
      server = std::move(*hosted);
      server->serve();
    }
    StatusOr<TcpStore> opened = TcpStore::connect(launch.store, launch.prefix, deadline);
    if (!opened.ok())
      return opened.status();
    store = std::make_unique<TcpStore>(std::move(*opened));
    attendance = {.rank = launch.rank,
                  .ranks = launch.ranks,
                  .program = "vime " VIME_VERSION,
                  .address = store->localAddress(),
                  .hostsStore = launch.hostsStore};
    return Status();
  }

  Status prepare(StatusOr<plan::RankPlan> mine, const std::string &path) {
    if (!options.interface.empty()) {
      const StatusOr<std::string> address = addressOfInterface(options.interface);
      if (!address.ok())
        return address.status();
      attendance.address = *address;
    }
    if (!mine.ok())
      return mine.status();
    attendance.planId = plan::toHex(mine->id);
    if (Status status = identify(*mine, path); !status.ok())
      return status;
    prepared = std::make_unique<Prepared>(std::move(*mine));
    const plan::Plan &plan = prepared->mine.plan;
    if (plan.mesh.ranks() != self.launch.ranks)
      return Status(StatusCode::Unacceptable,
                    fmt::format("the plan is for {0}, {1} started\n"
                                "help: start {0}, or compile the job for as many as there are",
                                counted(plan.mesh.ranks(), "rank"),
                                self.launch.ranks == 1
                                    ? "1 was"
                                    : fmt::format("{} were", self.launch.ranks)));
    if (self.reports < 0 && self.launch.rank == 0)
      if (Status status = prepareRun(plan); !status.ok())
        return status;
    return prepareRank();
  }

  Status identify(const plan::RankPlan &mine, const std::string &path) {
    if (self.reports < 0) {
      std::error_code ignored;
      recorder.identify({.planId = mine.id,
                         .rank = self.launch.rank,
                         .ranks = self.launch.ranks,
                         .plan = std::filesystem::absolute(path, ignored).string()});
    } else if (!self.record.empty() && mine.id != recorder.header().planId) {
      return Status(StatusCode::Unacceptable,
                    fmt::format("`{}` is another plan than when the run began", path));
    }
    return Status();
  }

  /// What the process that starts ranks chooses for all, rank 0 chooses where nobody does.
  StatusOr<ResumeWish> resume() {
    ResumeWish wish = options.resume;
    if (self.reports >= 0) {
      if (const char *chosen = std::getenv(kResumeVariable))
        wish.chosen = chosen;
    } else if (wish.kind != ResumeWish::Kind::No && self.launch.rank == 0) {
      if (Status status = store->set(kResumeKey, wish.chosen); !status.ok())
        return status;
    } else if (wish.kind != ResumeWish::Kind::No) {
      StatusOr<std::string> chosen = store->get(kResumeKey, deadline);
      if (!chosen.ok())
        return chosen.status();
      wish.chosen = *chosen;
    }
    return wish;
  }

  Status prepareRun(const plan::Plan &plan) {
    if (Status status = checkCheckpoints(plan, options.base); !status.ok())
      return status;
    StatusOr<ExportClaim> claim = claimExport(plan, options.base);
    if (!claim.ok())
      return claim.status();
    prepared->claim.emplace(std::move(*claim));
    return Status();
  }

  Status prepareRank() {
    const StatusOr<ResumeWish> wish = resume();
    if (!wish.ok())
      return wish.status();
    StatusOr<std::unique_ptr<RankRun>> run = RankRun::prepare({.plan = prepared->mine.plan,
                                                               .planId = prepared->mine.id,
                                                               .rank = self.launch.rank,
                                                               .base = options.base,
                                                               .isa = options.isa,
                                                               .observer = observer,
                                                               .edge = options.edge,
                                                               .recorder = &recorder,
                                                               .resume = *wish,
                                                               .replay = options.replay,
                                                               .trace = options.trace});
    if (!run.ok())
      return run.status();
    prepared->run = std::move(*run);
    return Status();
  }

  RankEnd execute(Transport &transport) {
    const plan::Plan &plan = prepared->mine.plan;
    std::vector<flight::Header *> seen;
    for (const flight::FlightFile &other : others)
      seen.push_back(&other.header());
    const Watchdog watchdog(
        plan, {&recorder}, transferLimit(plan),
        [&](std::uint32_t, const Status &status, bool blamesPeer) {
          // The action, or a wait without end, holds us.
          options.abandon(record.abandon(status, blamesPeer));
        },
        seen);
    Sleeper sleeper(/*spins=*/false); // waits for peers happen inside Gloo
    const Status status = prepared->run->execute(transport, sleeper);
    return {status, prepared->run->failedItself() || isOwnFailure(status.code())};
  }

  bool seesAll() const { return others.size() + 1 == self.launch.ranks; }

  StatusOr<std::unique_ptr<Transport>> connect() {
    const plan::Plan &plan = prepared->mine.plan;
    const RankEnds &ends = prepared->run->ends();
    return connectGloo(ends, {.store = *store,
                              .address = attendance.address,
                              .peers = peersInConnectOrder(plan, ends),
                              .deadline = deadline,
                              .limit = std::chrono::duration_cast<std::chrono::milliseconds>(
                                  peerLimit(plan, seesAll()))});
  }

  const RankProcess &self;
  const RunOptions &options;
  RunObserver &observer;
  RankRecord &record;
  flight::FlightRecorder &recorder;
  Deadline deadline;
  std::unique_ptr<TcpStoreServer> server; // outlives the client
  std::unique_ptr<TcpStore> store;
  Attendance attendance;
  std::vector<flight::FlightFile> others; // of ranks on this machine, if all are
  std::unique_ptr<Prepared> prepared;
};

/// What the standard library throws becomes the failure of this rank.
RankEnd runCaught(Rank &self, std::uint32_t rank, const std::string &path, const Status &ready) {
  try {
    return self.run(path, ready);
  } catch (const std::bad_alloc &) {
    return {Status(StatusCode::Unacceptable, fmt::format("no memory is left for rank {}", rank))};
  } catch (const std::system_error &error) {
    return {Status(StatusCode::Unacceptable, fmt::format("cannot start the threads of rank {}: {}",
                                                         rank, error.code().message()))};
  } catch (const std::exception &error) {
    return {Status(StatusCode::Internal, fmt::format("rank {}: {}", rank, error.what()))};
  }
}

} // namespace

StatusOr<std::optional<RankProcess>> rankOfThisProcess() {
  StatusOr<std::optional<Launch>> launch =
      launchFrom([](const char *name) { return getenv(name); });
  if (!launch.ok())
    return launch.status();
  if (!*launch)
    return std::optional<RankProcess>();
  RankProcess self{std::move(**launch)};
  if (const char *reports = std::getenv(kReportsVariable))
    std::from_chars(reports, reports + std::strlen(reports), self.reports);
  if (const char *record = std::getenv(kRecordVariable))
    self.record = record;
  return std::optional(std::move(self));
}

RankEnd runRank(const RankProcess &self, const std::string &plan, const RunOptions &options,
                RunObserver &observer, const Status &ready) {
  prctl(PR_SET_NAME, fmt::format("vime rank {}", self.launch.rank).c_str());
  if (self.launch.endsWithParent && self.reports < 0)
    prctl(PR_SET_PDEATHSIG, SIGTERM);
  StatusOr<RankRecord> record = RankRecord::open(self, options);
  if (!record.ok())
    return {record.status()};
  Rank rank(self, options, observer, *record);
  const RankEnd end = record->conclude(runCaught(rank, self.launch.rank, plan, ready));
  if (end.status.ok())
    observer.measured({self.launch.rank, 1, mostResidentMemory()});
  return end;
}

int runReportingRank(const RankProcess &self, const std::string &plan, RunOptions options) {
  ReportWriter reports(self.reports);
  options.abandon = [&](const Status &status) {
    reports.ended(status, /*own=*/true);
    std::_Exit(status.exitCode());
  };
  const RankEnd end = runRank(self, plan, options, reports);
  reports.ended(end.status, end.own);
  return end.status.exitCode();
}

} // namespace vime
