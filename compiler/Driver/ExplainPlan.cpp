#include "compiler/Driver/ExplainPlan.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/Analysis/OrderFacts.h"
#include "compiler/Diagnostics/Amounts.h"
#include "compiler/Driver/Remedies.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Base/Counted.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;
using verify::ActionTable;

constexpr std::size_t kMostCauses = 5;
constexpr double kHardly = 0.0005; // a gain that nobody would see

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

/// `--set pipeline.schedule=zb-h1`, as a shell takes it.
std::string settingsText(const Remedy &remedy) {
  std::string text;
  for (const std::string &setting : remedy.settings)
    text += (text.empty() ? "--set " : " --set ") + shellWord(setting);
  return text;
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

class Explanation {
public:
  Explanation(const SteppedPlan &base, const Bound &bound, std::vector<Tried> all,
              std::string whyNone)
      : base(base), bound(bound), tried(std::move(all)), whyNone(std::move(whyNone)) {
    std::stable_sort(tried.begin(), tried.end(), [](const Tried &one, const Tried &other) {
      return std::pair(one.whyNot.empty(), one.gain) > std::pair(other.whyNot.empty(), other.gain);
    });
  }

  std::string text() const { return head() + causes() + gains() + without() + refused(); }

  Json json() const {
    Json causes = Json::array(), remedies = Json::array();
    for (const Cause &cause : base.causes)
      causes.push_back({{"cause", nameOf(cause.kind)},
                        {"what", sentenceOf(cause.kind)},
                        {"time", number(cause.time)},
                        {"share", shareOf(cause.time)},
                        {"most", number(cause.most)},
                        {"most_on_rank", cause.rank}});
    for (const Tried &one : tried)
      remedies.push_back(jsonOf(one));
    return {{"format", "vime-explanation"},
            {"format_version", 1},
            {"plan", base.plan.run.name},
            {"schedule", base.plan.schedule},
            {"costs", base.costs.origin},
            {"unit", base.costs.unit},
            {"period", number(base.period)},
            {"bound", number(bound.least)},
            {"bound_by", bound.label},
            {"memory_bytes", memoryOf(base.plan)},
            {"causes", causes},
            {"remedies", remedies},
            {"guesses_halves_of_backward", guessesHalves()},
            {"why_none", whyNone.empty() ? Json() : Json(whyNone)}};
  }

private:
  double number(std::int64_t time) const { return static_cast<double>(time) / base.costs.perUnit; }
  double shareOf(std::int64_t time) const {
    return base.period == 0 ? 0 : static_cast<double>(time) / static_cast<double>(base.period);
  }

  std::string head() const {
    const plan::Plan &plan = base.plan;
    return fmt::format("{}: {} on {}, {} microbatches\ncosts     {}\nstep      {} {}; no order of "
                       "these stages and activations takes less than {} ({})\nmemory    {} on the "
                       "fullest rank\n",
                       plan.run.name, plan.schedule, counted(plan.mesh.ranks(), "rank"),
                       plan.data.microbatches, base.costs.origin, base.costs.show(base.period),
                       base.costs.unit, base.costs.show(bound.least), bound.label,
                       bytesInWords(memoryOf(plan)));
  }

  /// Nothing was measured of what the plan does not do.
  bool guessesHalves() const {
    return base.isMeasured &&
           std::ranges::any_of(base.costs.durations.stages, [](const auto &times) {
             return times[plan::Opcode::Backward] != 0 && times[plan::Opcode::BackwardInput] == 0;
           });
  }

  std::string causes() const {
    std::string text =
        fmt::format("\nwhere a step goes, mean of the ranks\n  {:>7}{:>10}\n", "", base.costs.unit);
    for (std::size_t place = 0; place < std::min(base.causes.size(), kMostCauses); ++place) {
      const Cause &cause = base.causes[place];
      text +=
          fmt::format("  {:>7}{:>10}  {:<15}{}; most on rank {}: {}\n",
                      percent(shareOf(cause.time)), base.costs.show(cause.time), nameOf(cause.kind),
                      sentenceOf(cause.kind), cause.rank, base.costs.show(cause.most));
    }
    return text;
  }

  std::string columns(std::string_view title) const {
    return fmt::format("\n{}\n  {:>7}{:>10}  {:<15}{:>11}  change\n", title, "token",
                       base.costs.unit, "mostly of", "memory");
  }

  std::string row(const Tried &one) const {
    const std::string gain =
        std::abs(one.gain) < kHardly ? "the same" : fmt::format("{:+.1f}%", -100 * one.gain);
    return fmt::format("  {:>7}{:>10}  {:<15}{:>11}  {}\n", gain, base.costs.show(one.period),
                       one.saved ? nameOf(*one.saved) : "", memoryChange(one),
                       settingsText(one.remedy));
  }

  std::string gains() const {
    std::string text;
    for (const Tried &one : tried)
      if (one.whyNot.empty() && one.gain >= kHardly)
        text += row(one);
    if (!whyNone.empty())
      return fmt::format("\nnothing was tried: the job cannot be compiled again from here ({})\n"
                         "  = help: name it: `--job job.yaml`\n",
                         whyNone);
    if (text.empty())
      return "\nnothing that was tried makes it shorter\n";
    return columns("what makes it shorter: each change compiled, proved and simulated at the same "
                   "work") +
           text +
           (guessesHalves()
                ? "  (each half of a backward taken for half of it: the plan splits none)\n"
                : "");
  }

  std::string memoryChange(const Tried &one) const {
    const std::uint64_t now = memoryOf(base.plan);
    if (one.memory == now)
      return "the same";
    return (one.memory > now ? "+" : "-") +
           bytesInWords(one.memory > now ? one.memory - now : now - one.memory);
  }

  std::string without() const {
    std::string text;
    for (const Tried &one : tried)
      if (one.whyNot.empty() && one.gain < kHardly)
        text += row(one);
    return text.empty() ? "" : columns("what does not") + text;
  }

  /// One line for each reason.
  std::string refused() const {
    std::vector<std::pair<std::string, std::string>> reasons;
    for (const Tried &one : tried) {
      if (one.whyNot.empty())
        continue;
      const std::string change = fmt::format("{}", fmt::join(one.remedy.settings, ", "));
      const auto same =
          std::ranges::find(reasons, one.whyNot, [](const auto &reason) { return reason.first; });
      if (same == reasons.end())
        reasons.emplace_back(one.whyNot, change);
      else
        same->second += "; " + change;
    }
    std::string text;
    for (const auto &[reason, changes] : reasons)
      text += fmt::format("  {}\n      {}\n", reason, changes);
    return text.empty() ? "" : "\nwhat this job cannot have\n" + text;
  }

  Json jsonOf(const Tried &one) const {
    Json json{{"what", one.remedy.what}, {"settings", one.remedy.settings}};
    if (!one.whyNot.empty()) {
      json["why_not"] = one.whyNot;
      return json;
    }
    json["period"] = number(one.period);
    json["gain"] = one.gain;
    json["less"] = one.saved ? Json(nameOf(*one.saved)) : Json();
    json["memory_bytes"] = one.memory;
    return json;
  }

  const SteppedPlan &base;
  const Bound bound;
  std::vector<Tried> tried;  // best first, those that there are not at the end
  const std::string whyNone; // was tried; empty: all were
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

StatusOr<PlanCosts> costsFor(const plan::Plan &plan, const ActionTable &table,
                             const CostBasis &basis, const std::string &measured) {
  if (measured.empty())
    return costsOf(plan, basis);
  StatusOr<Measured> found = measuredIn(measured, plan, table);
  return found.ok() ? StatusOr<PlanCosts>(std::move(found->costs)) : found.status();
}

std::vector<Tried> tryAll(const JobAgain &job, const SteppedPlan &base,
                          const std::vector<Remedy> &remedies) {
  std::vector<Tried> tried;
  Progress progress;
  std::vector<Remedy> early;
  for (const Remedy &remedy : remedies) {
    progress.tell(tried.size(), remedies.size(), remedy);
    tried.push_back(tryRemedy(job, base, remedy));
    if (std::optional<Remedy> also = withEarlyCommit(tried.back()))
      early.push_back(std::move(*also));
  }
  for (const Remedy &remedy : early) {
    progress.tell(tried.size(), remedies.size() + early.size(), remedy);
    tried.push_back(tryRemedy(job, base, remedy));
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
  const StatusOr<PlanCosts> found = costsFor(*plan, table, *basis, arguments.measured);
  if (!found.ok())
    return reportFailure(found.status(), output);
  const PlanCosts &costs = *found;
  const Simulated run = simulate(table, costs.durations);
  if (run.stuck)
    return reportFailure(
        Status(StatusCode::Internal, "the simulated plan stands still: " + *run.stuck), output);
  const SteppedPlan base{*plan,      costs,
                         *basis,     !arguments.measured.empty(),
                         run.period, causesOf(table, run, reportOf(table, run))};
  std::string whyNot;
  const std::optional<plan::Plan> again = compileAgain(*job, *plan, {}, whyNot);
  if (!arguments.job.empty() && (!again || again->programs != plan->programs))
    return reportFailure(Status(StatusCode::InvalidInput, "`" + path +
                                                              "` was made from another job "
                                                              "than `" +
                                                              arguments.job + "`"),
                         output, again ? "compile the job, and explain that plan" : whyNot);
  const Explanation explanation(
      base, bindingBound(table, orderFactsOf(table, costs.durations).bounds),
      again ? tryAll(*job, base, remediesFor(*job, base)) : std::vector<Tried>(), whyNot);
  std::cout << (output.json
                    ? explanation.json().dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                    : explanation.text());
  return 0;
}

} // namespace vime
