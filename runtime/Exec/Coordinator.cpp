#include "runtime/Exec/Coordinator.h"

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

} // namespace

Coordinator::Coordinator(const plan::Plan &plan, RunObserver &observer)
    : samplesOfStep(std::uint64_t(plan.data.samples) * plan.data.microbatches * plan.mesh.data),
      watcher(std::make_unique<OneAtATime>(observer)) {}

std::uint64_t Coordinator::nextStep() {
  now.samples += samplesOfStep;
  return now.steps++;
}

StatusOr<TextDataset> openText(const plan::Plan &plan, const std::string &base) {
  const std::string path = pathFrom(base, plan.data.text);
  StatusOr<TextDataset> dataset = TextDataset::open(
      path, {plan.data.sequence, plan.data.samples, plan.data.microbatches * plan.mesh.data},
      plan.run.seed, {plan.data.textBytes, plan.data.textHash});
  if (dataset.ok() || dataset.status().code() != StatusCode::File)
    return dataset;
  return Status(
      StatusCode::File,
      fmt::format(
          "{}\nhelp: paths of the job are relative to its folder; name that folder with `--base`",
          dataset.status().message()));
}

} // namespace vime
