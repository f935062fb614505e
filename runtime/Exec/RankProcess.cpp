// One rank as a process of its own: the other half of ProcessRun.cpp.
#include <charconv>
#include <cstdlib>
#include <cstring>

#include <sys/prctl.h>

#include <fmt/format.h>

#include "runtime/Exec/ProcessRun.h"
#include "runtime/Exec/RankProcessVariables.h"
#include "runtime/Exec/RankReports.h"
#include "runtime/Exec/RankRun.h"
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

Status run(const RankProcess &self, const std::string &path, const RunOptions &options,
           ReportWriter &reports) {
  const StatusOr<plan::RankPlan> mine = plan::readRankPlan(path, self.rank);
  if (!mine.ok())
    return mine.status();
  if (mine->plan.mesh.ranks() != self.ranks)
    return Status(StatusCode::Unacceptable, fmt::format("the plan is for {} ranks, {} were started",
                                                        mine->plan.mesh.ranks(), self.ranks));
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
                                                                  .resume = resume});
  if (!prepared.ok())
    return prepared.status();
  StatusOr<std::unique_ptr<Transport>> transport = connect(self, *mine, (*prepared)->ends());
  if (!transport.ok())
    return transport.status();
  reports.connected();
  Sleeper sleeper(/*spins=*/false); // waits for peers happen inside Gloo
  return (*prepared)->execute(**transport, sleeper);
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
  return self;
}

int runRankProcess(const RankProcess &self, const std::string &plan, const RunOptions &options) {
  prctl(PR_SET_NAME, fmt::format("vime rank {}", self.rank).c_str());
  ReportWriter reports(self.reports);
  const Status status = run(self, plan, options, reports);
  reports.ended(status);
  return status.exitCode();
}

} // namespace vime
