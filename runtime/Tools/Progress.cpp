#include "runtime/Tools/Progress.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

namespace vime {
namespace {

constexpr std::uint64_t kLines = 20; // of a run, where they stay
constexpr std::chrono::milliseconds kRedraw{50};

} // namespace

Progress::Style Progress::styleFor(std::FILE *stream) {
  return isatty(fileno(stream)) ? Style::Redrawn : Style::Lines;
}

void Progress::stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) {
  const StepSummary &step = summary.add(record, ranks);
  if (!isDue(record.step))
    return;
  const std::string text = line(step);
  if (style == Style::Redrawn)
    fmt::print(stream, "\r{}\x1b[K", text);
  else
    fmt::print(stream, "{}\n", text);
  std::fflush(stream);
  open = style == Style::Redrawn;
}

bool Progress::isDue(std::uint64_t step) {
  const bool last = step + 1 == summary.plannedSteps;
  if (style == Style::Redrawn) {
    const auto now = std::chrono::steady_clock::now();
    if (!last && now - drawn < kRedraw)
      return false;
    drawn = now;
    return true;
  }
  const std::uint64_t every = std::max<std::uint64_t>(1, summary.plannedSteps / kLines);
  return style == Style::Lines && (last || step % every == 0);
}

std::string Progress::line(const StepSummary &step) const {
  const double speed =
      step.seconds > 0 ? static_cast<double>(step.record.tokens) / step.seconds : 0;
  const int width = static_cast<int>(std::to_string(summary.plannedSteps).size());
  return fmt::format("step {:>{}}/{}  loss {:.4f}  {:>6.0f} tokens/s  bubble {:4.1f} %",
                     step.record.step + 1, width, summary.plannedSteps, step.record.loss, speed,
                     100 * step.bubble);
}

void Progress::close() {
  if (open)
    fmt::print(stream, "\n");
  open = false;
}

} // namespace vime
