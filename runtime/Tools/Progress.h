// Progress: shows a run while it goes on: one line redrawn on a terminal, about twenty lines
// elsewhere, more if they would be far apart in time; or every step as a JSON object on a line of
// its own, for programs.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "runtime/Tools/RunSummary.h"

namespace vime {

class Progress final : public RunObserver {
public:
  enum class Style { Silent, Lines, Redrawn, JsonLines };
  /// Of a word of `kWords`; of `auto` redrawn on a terminal, lines elsewhere.
  static Style styleFor(std::string_view word, std::FILE *stream);
  static constexpr std::array<std::string_view, 4> kWords = {"auto", "plain", "jsonl", "none"};

  Progress(const plan::Plan &plan, std::string transport, std::string exportTo, Style style,
           std::FILE *stream, std::chrono::milliseconds longestSilence = std::chrono::seconds(10))
      : summary(plan, std::move(transport)), exportTo(std::move(exportTo)), style(style),
        stream(stream), longestSilence(longestSilence) {
    if (style == Style::JsonLines)
      begin(plan);
  }

  void stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) override;
  void evaluated(const EvaluationRecord &record) override;
  void roundFinished(const RoundRecord &record) override;
  void promptsEvaluated(const PromptsRecord &record) override;
  void exported() override;
  void saved(std::uint64_t steps) override;
  void measured(const ResidentRecord &record) override;

  /// Leaves a half-drawn line behind.
  void close();

  const RunSummary &result() const { return summary; }

private:
  void begin(const plan::Plan &plan);
  void warnOf(const StepRecord &record);
  bool isDue(std::uint64_t step);
  std::string line(const StepSummary &step) const;
  std::string lineOfRound(const StepSummary &step) const;

  RunSummary summary;
  const std::string exportTo;
  const Style style;
  std::FILE *const stream;
  const std::chrono::milliseconds longestSilence; // between lines, where they stay
  std::chrono::steady_clock::time_point shown{};
  bool open = false;   // the cursor stands in a drawn line
  bool warned = false; // of a loss that is not a number
  bool told = false;   // of a step that was skipped
};

} // namespace vime
