#include "compiler/Driver/Explanation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Amounts.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/StepFacts.h"
#include "runtime/Base/Counted.h"
#include "runtime/Plan/Decisions.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kHardly = 0.0005; // a gain that nobody would see

/// `--set pipeline.schedule=zb-h1`, as a shell takes it.
std::string settingsText(const std::vector<std::string> &settings) {
  std::string text;
  for (const std::string &setting : settings)
    text += (text.empty() ? "--set " : " --set ") + shellWord(setting);
  return text;
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

} // namespace

Explanation::Explanation(const SteppedPlan &base, std::vector<Tried> all, std::string whyNone)
    : base(base), tried(std::move(all)), whyNone(std::move(whyNone)) {
  std::stable_sort(tried.begin(), tried.end(), [](const Tried &one, const Tried &other) {
    return std::pair(one.whyNot.empty(), one.gain) > std::pair(other.whyNot.empty(), other.gain);
  });
}

std::string Explanation::text() const {
  return head() + causes() + gains() + without() + refused();
}

Json Explanation::json() const {
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
          {"notes", base.costs.notes},
          {"unit", base.costs.unit},
          {"period", number(base.period)},
          {"bound", number(base.bound.least)},
          {"bound_by", base.bound.label},
          {"bound_has_barrier", !plan::isPostValidated(base.plan)},
          {"bound_splits_backward", base.splits},
          {"arena_bytes", memoryOf(base.plan)},
          {"causes", causes},
          {"remedies", remedies},
          {"guesses_halves_of_backward", guessesHalves()},
          {"why_none", whyNone.empty() ? Json() : Json(whyNone)}};
}

double Explanation::number(std::int64_t time) const {
  return static_cast<double>(time) / base.costs.perUnit;
}
double Explanation::shareOf(std::int64_t time) const {
  return base.period == 0 ? 0 : static_cast<double>(time) / static_cast<double>(base.period);
}

std::string Explanation::head() const {
  const plan::Plan &plan = base.plan;
  std::string notes;
  for (const std::string &note : base.costs.notes)
    notes += "note      " + note + "\n";
  return fmt::format("{}: {} on {}, {} microbatches\ncosts     {}\nstep      {} {}; no order of "
                     "these stages, microbatches{} takes less than {}{} ({})\n"
                     "arenas    {} on the fullest rank\n",
                     plan.run.name, plan.schedule, ranksOf(plan), plan.data.microbatches,
                     base.costs.origin, base.costs.show(base.period), base.costs.unit,
                     base.splits ? " and activations" : ", activations and whole backwards",
                     base.costs.show(base.bound.least),
                     plan::isPostValidated(plan) ? "" : " with a barrier at the optimizer",
                     base.bound.label, bytesInWords(memoryOf(plan))) +
         notes;
}

/// Nothing was measured of what the plan does not do.
bool Explanation::guessesHalves() const {
  return base.isMeasured && std::ranges::any_of(base.costs.durations.stages, [](const auto &times) {
           return times[plan::Opcode::Backward] != 0 && times[plan::Opcode::BackwardInput] == 0;
         });
}

std::string Explanation::causes() const {
  const bool hasEngines = base.plan.mesh.engines != 0;
  std::string text = fmt::format("\nwhere a step{} goes, mean of the ranks{}\n  {:>7}{:>10}\n",
                                 base.plan.round.rollout.steps > 1 ? " that begins a round" : "",
                                 hasEngines ? " that train" : "", "", base.costs.unit);
  for (const Cause &cause : base.causes)
    text +=
        fmt::format("  {:>7}{:>10}  {:<15}{}; most on rank {}: {}\n", percent(shareOf(cause.time)),
                    base.costs.show(cause.time), nameOf(cause.kind), sentenceOf(cause.kind),
                    cause.rank, base.costs.show(cause.most));
  return text;
}

std::string Explanation::columns(std::string_view title) const {
  return fmt::format("\n{}\n  {:>7}{:>10}  {:<15}{:>11}  change\n", title, "token", base.costs.unit,
                     "mostly of", "arenas");
}

std::string Explanation::row(const Tried &one) const {
  const std::string gain =
      std::abs(one.gain) < kHardly ? "the same" : fmt::format("{:+.1f}%", -100 * one.gain);
  std::string text = fmt::format("  {:>7}{:>10}  {:<15}{:>11}  {}\n", gain,
                                 base.costs.show(one.period), one.saved ? nameOf(*one.saved) : "",
                                 memoryChange(one), settingsText(one.remedy.settings));
  for (const std::vector<std::string> &settings : one.also)
    text += fmt::format("  {:>45}  also {}\n", "", settingsText(settings));
  return text;
}

std::string Explanation::gains() const {
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

std::string Explanation::memoryChange(const Tried &one) const {
  const std::uint64_t now = memoryOf(base.plan);
  if (one.memory == now)
    return "the same";
  return (one.memory > now ? "+" : "-") +
         bytesInWords(one.memory > now ? one.memory - now : now - one.memory);
}

std::string Explanation::without() const {
  std::string text;
  for (const Tried &one : tried)
    if (one.whyNot.empty() && one.gain < kHardly)
      text += row(one);
  return text.empty() ? "" : columns("what does not") + text;
}

/// One line for each reason.
std::string Explanation::refused() const {
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

Json Explanation::jsonOf(const Tried &one) const {
  Json json{{"what", one.remedy.what}, {"settings", one.remedy.settings}};
  if (!one.whyNot.empty()) {
    json["why_not"] = one.whyNot;
    return json;
  }
  json["period"] = number(one.period);
  json["gain"] = one.gain;
  json["less"] = one.saved ? Json(nameOf(*one.saved)) : Json();
  json["arena_bytes"] = one.memory;
  json["also"] = one.also;
  return json;
}

} // namespace vime
