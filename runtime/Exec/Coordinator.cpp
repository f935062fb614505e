#include "runtime/Exec/Coordinator.h"

#include <fmt/format.h>

#include "runtime/Exec/RankModel.h"

namespace vime {
namespace {

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

StatusOr<Coordinator> Coordinator::open(const plan::Plan &plan, const std::string &base,
                                        RunObserver &observer) {
  const plan::DataSettings &data = plan.data;
  StatusOr<TextDataset> dataset = TextDataset::open(
      pathFrom(base, data.text), {data.sequence, data.samples, data.microbatches, data.tail},
      plan.run.seed, {data.textBytes, data.textHash});
  if (!dataset.ok())
    return withHelp(dataset.status());
  Coordinator coordinator(std::move(*dataset), observer);
  const plan::EvaluationSettings &held = plan.evaluation;
  if (held.text.empty())
    return coordinator;
  StatusOr<TextDataset> text = TextDataset::open(
      pathFrom(base, held.text),
      {data.sequence, data.samples, held.microbatches, plan::Tail::Join, /*shuffled=*/false},
      plan.run.seed, {held.textBytes, held.textHash});
  if (!text.ok())
    return withHelp(text.status());
  coordinator.evaluation = std::move(*text);
  return coordinator;
}

void Coordinator::finishStep(bool skipped) {
  ++progress.step;
  progress.updates += skipped ? 0 : 1;
}

bool Coordinator::goesOnAfter(double loss, const plan::EvaluationSettings &settings) {
  const bool better = loss < progress.bestLoss; // what is not a number is no better
  progress.evaluationsSince = better ? 0 : progress.evaluationsSince + 1;
  progress.bestLoss = better ? loss : progress.bestLoss;
  const bool tooLong = settings.patience != 0 && progress.evaluationsSince >= settings.patience;
  const bool reached = settings.target > 0 && loss <= settings.target;
  return !tooLong && !reached;
}

} // namespace vime
