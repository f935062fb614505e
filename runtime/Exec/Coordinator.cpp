#include "runtime/Exec/Coordinator.h"

#include <cmath>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "runtime/Exec/RankModel.h"

namespace vime {
namespace {

/// Lets one lane speak at a time.
class OneAtATime final : public RunObserver {
public:
  explicit OneAtATime(RunObserver &observer) : observer(observer) {}
  void stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) override {
    const std::lock_guard lock(mutex);
    observer.stepFinished(record, ranks);
  }
  void evaluated(const EvaluationRecord &record) override {
    const std::lock_guard lock(mutex);
    observer.evaluated(record);
  }
  void roundFinished(const RoundRecord &record) override {
    const std::lock_guard lock(mutex);
    observer.roundFinished(record);
  }
  void promptsEvaluated(const PromptsRecord &record) override {
    const std::lock_guard lock(mutex);
    observer.promptsEvaluated(record);
  }
  void exported() override {
    const std::lock_guard lock(mutex);
    observer.exported();
  }
  void saved(std::uint64_t steps) override {
    const std::lock_guard lock(mutex);
    observer.saved(steps);
  }

private:
  RunObserver &observer;
  std::mutex mutex;
};

Status withHelp(const Status &status) {
  if (status.code() != StatusCode::File)
    return status;
  return Status(
      StatusCode::File,
      fmt::format(
          "{}\nhelp: paths of the job are relative to its folder; name that folder with `--base`",
          status.message()));
}

} // namespace

Coordinator::Coordinator(const plan::Plan &plan, RunObserver &observer)
    : settings(plan.evaluation), watcher(std::make_unique<OneAtATime>(observer)) {}

bool Coordinator::goesOnAfter(double loss) {
  const bool better = // what is not a number is no better
      loss < now.bestLoss || (now.evaluations == 0 && std::isfinite(loss));
  ++now.evaluations;
  now.evaluationsSinceBest = better ? 0 : now.evaluationsSinceBest + 1;
  now.bestLoss = better ? loss : now.bestLoss;
  const bool tooLong = settings.patience != 0 && now.evaluationsSinceBest >= settings.patience;
  const bool reached = settings.target > 0 && loss <= settings.target;
  return !tooLong && !reached;
}

StatusOr<TextDataset> openText(const plan::Plan &plan, const std::string &base) {
  const plan::DataSettings &data = plan.data;
  StatusOr<TextDataset> text = TextDataset::open(pathFrom(base, data.text), batchShapeOf(data),
                                                 plan.run.seed, {data.textBytes, data.textHash});
  if (!text.ok())
    return withHelp(text.status());
  return text;
}

StatusOr<TextDataset> openHeldOut(const plan::Plan &plan, const std::string &base) {
  const plan::EvaluationSettings &held = plan.evaluation;
  StatusOr<TextDataset> text =
      TextDataset::open(pathFrom(base, held.text), batchShapeOf(plan.data, held), plan.run.seed,
                        {held.textBytes, held.textHash});
  if (!text.ok())
    return withHelp(text.status());
  return text;
}

} // namespace vime
