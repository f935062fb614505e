#include "runtime/Tools/Progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/Plan/PlanFile.h"
#include "runtime/Tools/StandardStreams.h"

namespace vime {
namespace {

constexpr std::uint64_t kLines = 20; // of a run, where they stay
constexpr std::chrono::milliseconds kRedraw{50};

} // namespace

Progress::Style Progress::styleFor(std::string_view word, std::FILE *stream) {
  if (word == "none")
    return Style::Silent;
  if (word == "jsonl")
    return Style::JsonLines;
  return word == "auto" && isatty(fileno(stream)) ? Style::Redrawn : Style::Lines;
}

void Progress::begin(const plan::Plan &plan) {
  show(stream, startLine(summary, plan::toHex(plan::planId(plan))));
}

void Progress::saved(std::uint64_t steps) {
  summary.saved.push_back(steps);
  if (style == Style::JsonLines)
    show(stream, saveLine(steps));
}

void Progress::measured(const ResidentRecord &record) {
  summary.resident.push_back(record);
  if (style == Style::JsonLines)
    return show(stream, residentLine(summary, record));
  const std::string warning = residentWarning(summary, record);
  if (warning.empty())
    return;
  close();
  show(stream, "warning: " + warning + "\n");
}

void Progress::exported() {
  summary.exportedTo = exportTo;
  if (style == Style::JsonLines)
    show(stream, exportLine(exportTo));
}

void Progress::stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) {
  const StepSummary &step = summary.add(record, ranks);
  if (style == Style::JsonLines)
    return show(stream, stepLine(step));
  warnOf(record);
  if (!isDue(record.step))
    return;
  const std::string text = line(step);
  show(stream, style == Style::Redrawn ? fmt::format("\r{}\x1b[K", text) : text + "\n");
  open = style == Style::Redrawn;
}

void Progress::evaluated(const EvaluationRecord &record) {
  summary.evaluations.push_back(record);
  if (style == Style::JsonLines)
    return show(stream, evaluationLine(record));
  if (style == Style::Silent)
    return;
  close();
  const int width = static_cast<int>(std::to_string(summary.plannedSteps).size());
  show(stream, fmt::format("step {:>{}}/{}  held-out loss {:.4f}{}\n", record.step + 1, width,
                           summary.plannedSteps, record.loss,
                           record.ends != 0 ? ", which ends the run" : ""));
}

/// On the line of each of its steps.
void Progress::roundFinished(const RoundRecord &record) {
  summary.rounds.push_back(record);
  if (style == Style::JsonLines)
    show(stream, roundLine(record));
}

void Progress::promptsEvaluated(const PromptsRecord &record) {
  summary.promptEvaluations.push_back(record);
  if (style == Style::JsonLines)
    return show(stream, promptsLine(record));
  if (style == Style::Silent)
    return;
  close();
  show(stream, fmt::format("version {}  held-out prompts: {}\n", record.version, scoresOf(record)));
}

/// Once each: what follows is the same.
void Progress::warnOf(const StepRecord &record) {
  if (record.skipped != 0 && !told) {
    close();
    show(stream, fmt::format("warning: the gradients of step {} are not finite; it changes no "
                             "parameter\n",
                             record.step + 1));
    told = true;
  }
  if (warned || std::isfinite(record.loss))
    return;
  close();
  show(stream, fmt::format("warning: the loss of step {} is not {}\n", record.step + 1,
                           std::isnan(record.loss) ? "a number" : "finite"));
  warned = true;
}

bool Progress::isDue(std::uint64_t step) {
  if (style == Style::Silent)
    return false;
  const auto now = std::chrono::steady_clock::now();
  const std::uint64_t every = std::max<std::uint64_t>(1, summary.plannedSteps / kLines);
  const bool due = step + 1 == summary.plannedSteps ||
                   (style == Style::Lines && step % every == 0) ||
                   now - shown >= (style == Style::Lines ? longestSilence : kRedraw);
  if (due)
    shown = now;
  return due;
}

std::string Progress::lineOfRound(const StepSummary &step) const {
  const int width = static_cast<int>(std::to_string(summary.plannedSteps).size());
  const PolicyRecord &policy = step.record.policy;
  const RoundRecord &round = summary.rounds.back();
  const std::uint64_t skipped = summary.skippedSteps();
  const std::string rollout = round.generationSeconds > 0
                                  ? fmt::format("{:.3f} s rollout, {:.0f} tokens/s",
                                                rolloutSeconds(round), tokensPerSecond(round))
                                  : std::string("a replayed rollout");
  const double loss = step.record.loss;
  return fmt::format("step {:>{}}/{}  round {}  reward {}  length {:.1f}  loss {:.4f}  "
                     "kl {:.2g}  clipped {:.1f} %  {:.3f} s + {}  bubble {:4.1f} % (plan {:.1f}){}",
                     step.record.step + 1, width, summary.plannedSteps, round.round + 1,
                     rewardText(round.rewardMean), meanLength(round),
                     std::abs(loss) < 5e-5 ? 0 : loss, policy.kl, 100 * policy.clipped,
                     step.seconds, rollout, 100 * step.bubble, 100 * summary.expectedBubble(),
                     skipped == 0 ? "" : fmt::format("  {} skipped", skipped));
}

std::string Progress::line(const StepSummary &step) const {
  if (step.record.ofRound != 0 && !summary.rounds.empty())
    return lineOfRound(step);
  const int width = static_cast<int>(std::to_string(summary.plannedSteps).size());
  const std::uint64_t skipped = summary.skippedSteps();
  const plan::Predictions &expected = summary.expected;
  return fmt::format("step {:>{}}/{}  loss {:.4f}  {:>6.0f} tokens/s  {:.3f} s{}  bubble {:4.1f} % "
                     "(plan {:.1f}){}",
                     step.record.step + 1, width, summary.plannedSteps, step.record.loss,
                     tokensPerSecond(step), step.seconds,
                     expected.costs.empty() ? ""
                                            : fmt::format(" (plan {:.3f})", expected.stepSeconds),
                     100 * step.bubble, 100 * summary.expectedBubble(),
                     skipped == 0 ? "" : fmt::format("  {} skipped", skipped));
}

void Progress::close() {
  if (open)
    show(stream, "\n");
  open = false;
}

} // namespace vime
