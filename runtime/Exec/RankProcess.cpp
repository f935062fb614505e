// One rank as a process of its own: the other half of ProcessRun.cpp.
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include <sys/prctl.h>

#include <fmt/format.h>

#include "runtime/Exec/ProcessRun.h"
#include "runtime/Exec/RankProcessVariables.h"
#include "runtime/Exec/RankReports.h"
#include "runtime/Exec/RankRun.h"
#include "runtime/Exec/RunRoutine.h"
#include "runtime/Exec/Watchdog.h"
#include "runtime/Plan/PlanFile.h"
#include "runtime/Transport/GlooPlugin.h"

namespace vime {
namespace {

constexpr std::chrono::seconds kConnectLimit{60};

template <typename Number> bool parse(const char *text, Number &number) {
  if (!text)
    return false;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  return error == std::errc() && *end == '\0';
}

StatusOr<std::unique_ptr<Transport>> connect(const RankProcess &self, const plan::RankPlan &mine,
                                             const RankEnds &ends) {
  const auto limit =
      std::chrono::duration_cast<std::chrono::milliseconds>(transferLimit(mine.plan));
  return connectGloo(ends, {.store = self.store,
                            .planId = plan::toHex(mine.id),
                            .peers = peersInConnectOrder(mine.plan, ends),
                            .connectLimit = kConnectLimit,
                            .limit = limit});
}

/// The record that the starting process has made, or one that nobody reads.
StatusOr<flight::FlightRecorder> openRecord(const RankProcess &self) {
  if (self.record.empty())
    return flight::FlightRecorder(flight::FlightFile::inMemory());
  StatusOr<flight::FlightFile> file = flight::FlightFile::open(self.record);
  if (!file.ok())
    return file.status();
  flight::FlightRecorder recorder(std::move(*file));
  recorder.adopt();
  return recorder;
}

/// How a rank ended, and whether that began here.
struct RankEnd {
  Status status;
  bool own = true;
};

RankEnd execute(const RankProcess &self, const plan::RankPlan &mine, RankRun &prepared,
                flight::FlightRecorder &recorder, ReportWriter &reports) {
  recorder.enter(flight::State::Connecting);
  StatusOr<std::unique_ptr<Transport>> transport = connect(self, mine, prepared.ends());
  if (!transport.ok())
    return {transport.status(), isOwnFailure(transport.status().code())};
  reports.connected();
  const Watchdog watchdog(mine.plan, {&recorder}, transferLimit(mine.plan),
                          [&](std::uint32_t, const Status &status) {
                            recorder.fail(status, /*blamesPeer=*/false);
                            reports.ended(status, /*own=*/true);
                            std::_Exit(status.exitCode()); // the action will not let us go
                          });
  Sleeper sleeper(/*spins=*/false); // waits for peers happen inside Gloo
  const Status status = prepared.execute(**transport, sleeper);
  return {status, prepared.failedItself() || isOwnFailure(status.code())};
}

RankEnd run(const RankProcess &self, const std::string &path, const RunOptions &options,
            flight::FlightRecorder &recorder, ReportWriter &reports) {
  const StatusOr<plan::RankPlan> mine = plan::readRankPlan(path, self.rank);
  if (!mine.ok())
    return {mine.status()};
  if (!self.record.empty() && mine->id != recorder.header().planId)
    return {Status(StatusCode::Unacceptable,
                   fmt::format("`{}` is another plan than when the run began", path))};
  if (mine->plan.mesh.ranks() != self.ranks)
    return {
        Status(StatusCode::Unacceptable, fmt::format("the plan is for {} ranks, {} were started",
                                                     mine->plan.mesh.ranks(), self.ranks))};
  ResumeWish resume = options.resume;
  if (const char *chosen = std::getenv(kResumeVariable))
    resume.chosen = chosen;
  StatusOr<std::unique_ptr<RankRun>> prepared = RankRun::prepare({.plan = mine->plan,
                                                                  .planId = mine->id,
                                                                  .rank = self.rank,
                                                                  .base = options.base,
                                                                  .isa = options.isa,
                                                                  .observer = reports,
                                                                  .edge = options.edge,
                                                                  .recorder = &recorder,
                                                                  .resume = resume});
  if (!prepared.ok())
    return {prepared.status()};
  return execute(self, *mine, **prepared, recorder, reports);
}

/// What the standard library throws becomes the failure of this rank.
RankEnd runCaught(const RankProcess &self, const std::string &path, const RunOptions &options,
                  flight::FlightRecorder &recorder, ReportWriter &reports) {
  try {
    return run(self, path, options, recorder, reports);
  } catch (const std::bad_alloc &) {
    return {
        Status(StatusCode::Unacceptable, fmt::format("no memory is left for rank {}", self.rank))};
  } catch (const std::system_error &error) {
    return {Status(StatusCode::Unacceptable, fmt::format("cannot start the threads of rank {}: {}",
                                                         self.rank, error.code().message()))};
  } catch (const std::exception &error) {
    return {Status(StatusCode::Internal, fmt::format("rank {}: {}", self.rank, error.what()))};
  }
}

} // namespace

std::optional<RankProcess> rankOfThisProcess() {
  RankProcess self;
  const char *store = std::getenv(kStoreVariable);
  if (!store || !parse(std::getenv(kReportsVariable), self.reports) ||
      !parse(std::getenv(kRankVariable), self.rank) ||
      !parse(std::getenv(kRanksVariable), self.ranks))
    return std::nullopt;
  self.store = store;
  if (const char *record = std::getenv(kRecordVariable))
    self.record = record;
  return self;
}

int runRankProcess(const RankProcess &self, const std::string &plan, const RunOptions &options) {
  prctl(PR_SET_NAME, fmt::format("vime rank {}", self.rank).c_str());
  ReportWriter reports(self.reports);
  StatusOr<flight::FlightRecorder> recorder = openRecord(self);
  if (!recorder.ok()) {
    reports.ended(recorder.status(), /*own=*/true);
    return recorder.status().exitCode();
  }
  const RankEnd end = runCaught(self, plan, options, *recorder, reports);
  if (!end.status.ok())
    recorder->fail(end.status, !end.own);
  reports.ended(end.status, end.own);
  return end.status.exitCode();
}

} // namespace vime
