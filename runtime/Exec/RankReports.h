// RankReports: what a rank's process tells the process that started it, over a pipe.
//
// A report is a kind, a length and bytes. The end of the pipe is the end of the rank, however it
// came.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Exec/RunObserver.h"

namespace vime {

/// The rank's side.
class ReportWriter final : public RunObserver {
public:
  explicit ReportWriter(int pipe) : pipe(pipe) {}
  void stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) override;
  void evaluated(const EvaluationRecord &record) override;
  void roundFinished(const RoundRecord &record) override;
  void promptsEvaluated(const PromptsRecord &record) override;
  void exported() override;
  void saved(std::uint64_t steps) override;
  void measured(const ResidentRecord &record) override;
  /// The last report; also of a rank that succeeded. `own`: the failure began here.
  void ended(const Status &status, bool own);

private:
  void write(std::uint32_t kind, std::span<const std::byte> bytes);
  const int pipe;
};

/// The other side.
class ReportReader {
public:
  ReportReader(int pipe, RunObserver &observer) : pipe(pipe), observer(observer) {}

  /// Takes in what is there, passing it on; false at the end of the pipe. Call when the pipe is
  /// readable.
  bool read();

  bool hasEnded() const { return isEnded; }
  const Status &status() const { return outcome; } // once it has ended
  bool failedItself() const { return ownFailure; }

private:
  void handle(std::uint32_t kind, std::span<const std::byte> bytes);

  const int pipe;
  RunObserver &observer;
  std::vector<std::byte> pending;
  bool isEnded = false, ownFailure = false;
  Status outcome;
};

} // namespace vime
