#include "runtime/Tools/RunSummary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/Base/Counted.h"
#include "runtime/Plan/Allowance.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Transport/Cores.h"
#include "runtime/Transport/Sleeper.h"

namespace vime {
namespace {

double longestStep(std::span<const plan::RankStats> ranks) {
  std::uint64_t longest = 0;
  for (const plan::RankStats &rank : ranks)
    longest = std::max(longest, rank.stepNanoseconds);
  return static_cast<double>(longest) * 1e-9;
}

std::string sizeOf(std::uint64_t bytes) {
  const double kibibytes = static_cast<double>(bytes) / 1024;
  return kibibytes < 1024 ? fmt::format("{:.1f} KiB", kibibytes)
                          : fmt::format("{:.1f} MiB", kibibytes / 1024);
}

} // namespace

namespace {

double bubbleOf(std::span<const plan::RankStats> ranks, double seconds) {
  double busy = 0;
  for (const plan::RankStats &rank : ranks)
    busy += static_cast<double>(rank.computeNanoseconds) * 1e-9;
  const double available = static_cast<double>(ranks.size()) * seconds;
  return available > 0 ? 1 - busy / available : 0;
}

} // namespace

double bubbleOf(std::span<const plan::RankStats> ranks) {
  return bubbleOf(ranks, longestStep(ranks));
}

RunSummary::RunSummary(const plan::Plan &plan, std::string transport)
    : name(plan.run.name), transport(std::move(transport)), savedIn(plan.checkpoint.directory),
      plannedSteps(plan.run.steps), expected(plan.predictions), hasRounds(plan::hasRounds(plan)),
      computeSeconds(plan.mesh.trainers()), cores(availableCores()),
      processAllowance(plan::processAllowance(plan)) {
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
    arenaBytes.push_back(plan::arenaBytes(plan, rank));
    rankAllowance.push_back(plan::rankAllowance(plan, rank));
  }
}

std::uint64_t RunSummary::allowed(const ResidentRecord &process) const {
  std::uint64_t bytes = processAllowance;
  for (std::uint32_t rank = process.first; rank < process.first + process.ranks; ++rank)
    bytes += arenaBytes[rank] + rankAllowance[rank];
  return bytes;
}

const StepSummary &RunSummary::add(const StepRecord &record,
                                   std::span<const plan::RankStats> ranks) {
  for (std::size_t rank = 0; rank < ranks.size() && rank < computeSeconds.size(); ++rank)
    computeSeconds[rank] += static_cast<double>(ranks[rank].computeNanoseconds) * 1e-9;
  const double seconds = record.ofRound != 0 ? record.policy.seconds : longestStep(ranks);
  steps.push_back({record, seconds, bubbleOf(ranks, seconds)});
  return steps.back();
}

double RunSummary::seconds() const {
  double sum = 0;
  for (const StepSummary &step : steps)
    sum += step.seconds;
  return sum;
}

std::uint64_t RunSummary::skippedSteps() const {
  std::uint64_t count = 0;
  for (const StepSummary &step : steps)
    count += step.record.skipped;
  return count;
}

double tokensPerSecond(const StepSummary &step) {
  return step.seconds > 0 ? static_cast<double>(step.record.tokens) / step.seconds : 0;
}

double tokensPerSecond(const RoundRecord &round) {
  return round.generationSeconds > 0 ? static_cast<double>(round.tokens) / round.generationSeconds
                                     : 0;
}

std::string rewardText(double reward) {
  return std::abs(reward) < 1e6 ? fmt::format("{:.3f}", reward) : fmt::format("{:.3g}", reward);
}

double rolloutSeconds(const RoundRecord &round) {
  return round.syncSeconds + round.generationSeconds + round.scoreSeconds;
}

double meanLength(const RoundRecord &round) {
  return round.samples > 0 ? static_cast<double>(round.tokens) / static_cast<double>(round.samples)
                           : 0;
}

std::string scoresOf(const PromptsRecord &record) {
  std::string text = fmt::format("mean reward {:.3f}", record.mean);
  for (std::size_t entry = 0; entry < record.passCount; ++entry)
    text += fmt::format(", pass@{} {:.3f}", record.passOf[entry], record.passAt[entry]);
  return text;
}

double RunSummary::tokensPerSecond() const {
  double tokens = 0;
  for (const StepSummary &step : steps)
    tokens += static_cast<double>(step.record.tokens);
  return seconds() > 0 ? tokens / seconds() : 0;
}

double RunSummary::bubble() const {
  double idle = 0;
  for (const StepSummary &step : steps)
    idle += step.bubble * step.seconds;
  return seconds() > 0 ? idle / seconds() : 0;
}

double RunSummary::expectedBubble() const {
  return expected.costs.empty() ? expected.bubble : expected.expectedBubble;
}

std::size_t RunSummary::slowestRank() const {
  return static_cast<std::size_t>(std::max_element(computeSeconds.begin(), computeSeconds.end()) -
                                  computeSeconds.begin());
}

namespace {

/// The process that is closest to its limit, or farthest beyond it.
std::string residentText(const RunSummary &summary) {
  const auto share = [&](const ResidentRecord &process) {
    return static_cast<double>(process.bytes) / static_cast<double>(summary.allowed(process));
  };
  const ResidentRecord &fullest = *std::max_element(
      summary.resident.begin(), summary.resident.end(),
      [&](const auto &one, const auto &other) { return share(one) < share(other); });
  return fmt::format("\n  resident      {} of {} allowed{}", sizeOf(fullest.bytes),
                     sizeOf(summary.allowed(fullest)),
                     summary.resident.size() == 1 ? "" : fmt::format(", rank {}", fullest.first));
}

} // namespace

namespace {

std::string roundsText(const RunSummary &summary) {
  RoundRecord sum;
  for (const RoundRecord &round : summary.rounds) {
    sum.tokens += round.tokens;
    sum.generationSeconds += round.generationSeconds;
    sum.syncSeconds += round.syncSeconds;
    sum.scoreSeconds += round.scoreSeconds;
  }
  const std::string generation =
      sum.generationSeconds > 0
          ? fmt::format("generation {:.1f} s at {:.0f} tokens/s, rewards {:.1f} s",
                        sum.generationSeconds, tokensPerSecond(sum), sum.scoreSeconds)
          : std::string("samples replayed from dumps");
  return fmt::format("\n  {}, reward {} → {}\n  rollouts      {:.1f} s: sync {:.1f} s, {}",
                     counted(summary.rounds.size(), "round"),
                     rewardText(summary.rounds.front().rewardMean),
                     rewardText(summary.rounds.back().rewardMean), rolloutSeconds(sum),
                     sum.syncSeconds, generation);
}

} // namespace

std::string textOf(const RunSummary &summary) {
  std::string text = fmt::format("{}: {} in {:.1f} s", summary.name,
                                 counted(summary.steps.size(), "step"), summary.seconds());
  if (!summary.steps.empty())
    text += fmt::format(", loss {:.4f} → {:.4f}", summary.steps.front().record.loss,
                        summary.steps.back().record.loss);
  if (!summary.rounds.empty())
    text += roundsText(summary);
  if (!summary.promptEvaluations.empty())
    text += fmt::format("\n  held-out prompts: {} with version {}",
                        scoresOf(summary.promptEvaluations.back()),
                        summary.promptEvaluations.back().version);
  if (!summary.evaluations.empty())
    text += fmt::format("\n  held-out loss {:.4f} after step {}{}", summary.evaluations.back().loss,
                        summary.evaluations.back().step + 1,
                        summary.evaluations.back().ends != 0
                            ? fmt::format(", which ended the run of {} steps", summary.plannedSteps)
                            : "");
  if (const std::uint64_t skipped = summary.skippedSteps(); skipped != 0)
    text += fmt::format("\n  skipped       {} whose gradients were not finite",
                        counted(skipped, "step"));
  text += fmt::format("\n  speed         {:.0f} tokens/s", summary.tokensPerSecond());
  if (!summary.steps.empty() && !summary.expected.costs.empty())
    text += fmt::format("\n  step          {:.4g} s, the plan expects {:.4g} s ({})",
                        summary.seconds() / static_cast<double>(summary.steps.size()),
                        summary.expected.stepSeconds, summary.expected.costs);
  text += fmt::format("\n  bubble        {:.1f} % of the ranks' time without compute, the plan "
                      "expects {:.1f} %{}",
                      100 * summary.bubble(), 100 * summary.expectedBubble(),
                      summary.expected.costs.empty() ? " (unit costs)" : "");
  if (summary.arenaBytes.size() > summary.cores)
    text += fmt::format("\n                ({} ranks share {} cores: waiting for a core counts as "
                        "compute, the true value is larger)",
                        summary.arenaBytes.size(), summary.cores);
  text += "\n  peak memory  ";
  for (std::size_t rank = 0; rank < summary.arenaBytes.size(); ++rank)
    text +=
        fmt::format("{} rank {}: {}", rank == 0 ? "" : ",", rank, sizeOf(summary.arenaBytes[rank]));
  if (!summary.resident.empty())
    text += residentText(summary);
  text += fmt::format("\n  slowest rank  {}, {:.1f} s of compute", summary.slowestRank(),
                      summary.computeSeconds[summary.slowestRank()]);
  if (!summary.saved.empty())
    text += fmt::format("\n  saved in      {}, last behind step {}", summary.savedIn,
                        summary.saved.back());
  if (!summary.exportedTo.empty())
    text += fmt::format("\n  exported to   {}", summary.exportedTo);
  return text + "\n";
}

namespace {

using Json = nlohmann::ordered_json;

Json policyJson(const PolicyRecord &policy) {
  return {{"kl", policy.kl},
          {"ratio", policy.ratio},
          {"entropy", policy.entropy},
          {"clip_fraction", policy.clipped},
          {"corrected", policy.corrected},
          {"largest_drift", policy.drift},
          {"tokens", policy.tokens}};
}

Json stepJson(const StepSummary &step) {
  Json json = {{"step", step.record.step},
               {"loss", step.record.loss},
               {"gradient_norm", step.record.gradientNorm},
               {"learning_rate", step.record.learningRate},
               {"tokens", step.record.tokens},
               {"microbatches", step.record.microbatches},
               {"skipped", step.record.skipped != 0},
               {"seconds", step.seconds},
               {"tokens_per_second", tokensPerSecond(step)},
               {"bubble", step.bubble}};
  if (step.record.ofRound != 0)
    json["policy"] = policyJson(step.record.policy);
  return json;
}

/// `seconds` is null where the plan knows no costs; `bubble` is at unit costs then.
Json expectedJson(const RunSummary &summary) {
  const plan::Predictions &expected = summary.expected;
  const bool isKnown = !expected.costs.empty();
  return {{"costs", isKnown ? expected.costs : "units"},
          {"seconds", isKnown ? Json(expected.stepSeconds) : Json()},
          {"bubble", summary.expectedBubble()}};
}

Json evaluationJson(const EvaluationRecord &one) {
  return {
      {"step", one.step}, {"loss", one.loss}, {"tokens", one.tokens}, {"ends_run", one.ends != 0}};
}

Json roundJson(const RoundRecord &round) {
  return {{"round", round.round},
          {"version", round.version},
          {"samples", round.samples},
          {"tokens", round.tokens},
          {"shortest", round.shortest},
          {"longest", round.longest},
          {"stopped", round.stopped},
          {"cut", round.cut},
          {"aborted", round.aborted},
          {"reward_mean", round.rewardMean},
          {"reward_deviation", round.rewardDeviation},
          {"trained_reward_mean", round.trainedRewardMean},
          {"groups",
           {{"candidates", round.candidates},
            {"trained", round.trained},
            {"dropped", round.dropped},
            {"filled", round.filled},
            {"unused", round.unused}}},
          {"sync_seconds", round.syncSeconds},
          {"generation_seconds", round.generationSeconds},
          {"score_seconds", round.scoreSeconds},
          {"tokens_per_second", tokensPerSecond(round)}};
}

Json promptsJson(const PromptsRecord &one) {
  Json passAt = Json::object();
  for (std::size_t entry = 0; entry < one.passCount; ++entry)
    passAt[std::to_string(one.passOf[entry])] = one.passAt[entry];
  return {{"round", one.round},     {"version", one.version},
          {"prompts", one.prompts}, {"samples", one.samples},
          {"tokens", one.tokens},   {"reward_mean", one.mean},
          {"pass_at", passAt},      {"generation_seconds", one.generationSeconds}};
}

Json residentJson(const RunSummary &summary, const ResidentRecord &process) {
  return {{"first_rank", process.first},
          {"ranks", process.ranks},
          {"bytes", process.bytes},
          {"allowed_bytes", summary.allowed(process)}};
}

// A file name need not be UTF-8; JSON must be.
std::string lineOf(std::string_view event, const Json &facts) {
  Json json = {{"event", event}};
  json.update(facts);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string startLine(const RunSummary &summary, std::string_view planId) {
  return lineOf("start", {{"name", summary.name},
                          {"plan", planId},
                          {"ranks", summary.arenaBytes.size()},
                          {"steps", summary.plannedSteps},
                          {"transport", summary.transport},
                          {"arena_bytes", summary.arenaBytes},
                          {"expected", expectedJson(summary)}});
}

std::string stepLine(const StepSummary &step) { return lineOf("step", stepJson(step)); }

std::string evaluationLine(const EvaluationRecord &record) {
  return lineOf("evaluation", evaluationJson(record));
}

std::string roundLine(const RoundRecord &record) { return lineOf("round", roundJson(record)); }

std::string promptsLine(const PromptsRecord &record) {
  return lineOf("prompt_evaluation", promptsJson(record));
}

std::string saveLine(std::uint64_t steps) { return lineOf("save", {{"steps", steps}}); }

std::string exportLine(const std::string &directory) {
  return lineOf("export", {{"directory", directory}});
}

std::string residentLine(const RunSummary &summary, const ResidentRecord &process) {
  return lineOf("resident", residentJson(summary, process));
}

std::string residentWarning(const RunSummary &summary, const ResidentRecord &process) {
#if defined(VIME_ADDRESS_SANITIZER) || defined(VIME_THREAD_SANITIZER)
  constexpr bool hasShadow = true; // resident too, and several times what is ours
#else
  constexpr bool hasShadow = false;
#endif
  const std::uint64_t allowed = summary.allowed(process);
  if (hasShadow || process.bytes <= allowed)
    return "";
  const std::string who = process.ranks == 1
                              ? fmt::format("rank {}", process.first)
                              : fmt::format("the process of {} ranks", process.ranks);
  return fmt::format("{} had {} resident, {} more than its arenas and their allowance", who,
                     sizeOf(process.bytes), sizeOf(process.bytes - allowed));
}

std::string jsonOf(const RunSummary &summary) {
  Json json = {{"name", summary.name},
               {"transport", summary.transport},
               {"steps", summary.steps.size()},
               {"planned_steps", summary.plannedSteps},
               {"skipped_steps", summary.skippedSteps()},
               {"seconds", summary.seconds()},
               {"tokens_per_second", summary.tokensPerSecond()},
               {"bubble", summary.bubble()},
               {"expected", expectedJson(summary)},
               {"cores", summary.cores},
               {"slowest_rank", summary.slowestRank()},
               {"saved", summary.saved},
               {"exported_to", nullptr},
               {"ranks", Json::array()},
               {"resident", Json::array()},
               {"evaluations", Json::array()},
               {"history", Json::array()}};
  if (!summary.exportedTo.empty())
    json["exported_to"] = summary.exportedTo;
  if (summary.hasRounds) {
    json["rounds"] = Json::array();
    json["prompt_evaluations"] = Json::array();
  }
  for (const RoundRecord &round : summary.rounds)
    json["rounds"].push_back(roundJson(round));
  for (const PromptsRecord &one : summary.promptEvaluations)
    json["prompt_evaluations"].push_back(promptsJson(one));
  for (std::size_t rank = 0; rank < summary.arenaBytes.size(); ++rank) {
    const bool trains = rank < summary.computeSeconds.size();
    json["ranks"].push_back(
        {{"rank", rank},
         {"arena_bytes", summary.arenaBytes[rank]},
         {"compute_seconds", trains ? Json(summary.computeSeconds[rank]) : Json()}});
  }
  for (const ResidentRecord &process : summary.resident)
    json["resident"].push_back(residentJson(summary, process));
  for (const StepSummary &step : summary.steps)
    json["history"].push_back(stepJson(step));
  for (const EvaluationRecord &one : summary.evaluations)
    json["evaluations"].push_back(evaluationJson(one));
  return json.dump(2) + "\n";
}

} // namespace vime
