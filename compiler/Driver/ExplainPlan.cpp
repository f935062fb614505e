#include "compiler/Driver/ExplainPlan.h"

#include <chrono>
#include <iostream>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/Analysis/OrderFacts.h"
#include "compiler/Driver/Explanation.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

using verify::ActionTable;

/// Tells on a terminal how far it is, once it takes long.
class Progress {
public:
  void tell(std::size_t done, std::size_t all, const Remedy &remedy) {
    using namespace std::chrono;
    if (isatty(STDERR_FILENO) == 0 || steady_clock::now() - begun < seconds(1))
      return;
    told = true;
    std::cerr << fmt::format("\r\033[Ktrying {} of {}: {}", done + 1, all,
                             fmt::join(remedy.settings, ", "))
              << std::flush;
  }
  ~Progress() {
    if (told)
      std::cerr << "\r\033[K" << std::flush;
  }

private:
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  bool told = false;
};

/// The job to change: the plan's own, or that of a file. Nothing, and an exit code.
std::optional<JobAgain> jobFor(const plan::Plan &plan, const ExplainArguments &arguments,
                               const OutputOptions &output, int &code) {
  if (arguments.job.empty() && !arguments.settings.empty()) {
    code = reportFailure(Status(StatusCode::Usage, "`--set` changes a job, not a plan"), output,
                         "name the plan's job: `--job job.yaml`");
    return std::nullopt;
  }
  if (arguments.job.empty())
    return jobOfPlan(plan);
  const StatusOr<std::string> text = readFile(arguments.job);
  if (!text.ok()) {
    code = reportFailure(text.status(), output);
    return std::nullopt;
  }
  SourceCache sources;
  sources.add(arguments.job, *text);
  Findings findings;
  const std::optional<Job> job =
      readJob(*text, arguments.job, findings, arguments.settings, &sources);
  if (!job) {
    code = reportFindings(findings, sources, output);
    return std::nullopt;
  }
  return jobInFile(*job);
}

/// A step that was traced may be of fewer microbatches than the one that is explained.
StatusOr<PlanCosts> costsFor(const plan::Plan &plan, const CostBasis &basis,
                             const std::string &measured) {
  if (measured.empty())
    return costsOf(plan, basis);
  const StatusOr<verify::Choice> choice = choiceIn(measured, plan);
  if (!choice.ok())
    return choice.status();
  StatusOr<Measured> found = measuredIn(measured, plan, ActionTable(plan, *choice));
  return found.ok() ? StatusOr<PlanCosts>(std::move(found->costs)) : found.status();
}

/// Not that of the plan as it is, and each plan once.
void add(Tried one, const plan::Hash128 &now, std::vector<Tried> &tried) {
  const auto same = std::ranges::find_if(
      tried, [&](const Tried &other) { return other.whyNot.empty() && other.work == one.work; });
  if (!one.whyNot.empty() || (one.work != now && same == tried.end()))
    tried.push_back(std::move(one));
  else if (one.work != now)
    same->also.push_back(one.remedy.settings);
}

/// `now`: the work of the plan as it is.
std::vector<Tried> tryAll(const JobAgain &job, const SteppedPlan &base, const plan::Hash128 &now) {
  const std::vector<Remedy> remedies = remediesFor(job, base);
  std::vector<Tried> tried;
  Progress progress;
  std::vector<Remedy> early;
  std::size_t done = 0;
  for (const Remedy &remedy : remedies) {
    progress.tell(done++, remedies.size(), remedy);
    Tried one = tryRemedy(job, base, remedy);
    if (std::optional<Remedy> also = withEarlyCommit(one))
      early.push_back(std::move(*also));
    add(std::move(one), now, tried);
  }
  for (const Remedy &remedy : early) {
    progress.tell(done++, remedies.size() + early.size(), remedy);
    add(tryRemedy(job, base, remedy), now, tried);
  }
  return tried;
}

} // namespace

int explainPlan(const std::string &path, const ExplainArguments &arguments,
                const OutputOptions &output) {
  const StatusOr<plan::Plan> plan = plan::readPlan(path);
  if (!plan.ok())
    return reportFailure(plan.status(), output);
  Findings findings;
  verifyPlan(*plan, findings, path); // only a proved plan has a time
  if (findings.any()) {
    SourceCache sources;
    return reportFindings(findings, sources, output);
  }
  int code = 0;
  const std::optional<CostBasis> basis = readCostBasis(arguments.costs, output, code);
  if (!basis)
    return code;
  const std::optional<JobAgain> job = jobFor(*plan, arguments, output, code);
  if (!job)
    return code;
  const ActionTable table(*plan, steadyStepOf(*plan));
  const StatusOr<PlanCosts> found = costsFor(*plan, *basis, arguments.measured);
  if (!found.ok())
    return reportFailure(found.status(), output);
  const PlanCosts &costs = *found;
  const Simulated run = simulate(table, costs.durations);
  if (run.stuck)
    return reportFailure(
        Status(StatusCode::Internal, "the simulated plan stands still: " + *run.stuck), output);
  const OrderFacts order = orderFactsOf(table, costs.durations);
  const SteppedPlan base{*plan,
                         costs,
                         *basis,
                         !arguments.measured.empty(),
                         run.period,
                         causesOf(table, run, reportOf(table, run)),
                         bindingBound(table, order.bounds),
                         order.splits};
  std::string whyNot;
  const std::optional<plan::Plan> again = compileAgain(*job, *plan, {}, whyNot);
  if (!arguments.job.empty() && (!again || again->programs != plan->programs))
    return reportFailure(Status(StatusCode::InvalidInput, "`" + path +
                                                              "` was made from another job "
                                                              "than `" +
                                                              arguments.job + "`"),
                         output, again ? "compile the job, and explain that plan" : whyNot);
  const Explanation explanation(
      base, again ? tryAll(*job, base, idOfWork(*again)) : std::vector<Tried>(), whyNot);
  std::cout << (output.json ? explanation.json().dump(2, ' ', false,
                                                      nlohmann::json::error_handler_t::replace) +
                                  "\n"
                            : explanation.text());
  return 0;
}

} // namespace vime
