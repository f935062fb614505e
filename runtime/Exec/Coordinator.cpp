#include "runtime/Exec/Coordinator.h"

#include <fmt/format.h>

#include "runtime/Exec/RankModel.h"

namespace vime {

StatusOr<Coordinator> Coordinator::open(const plan::Plan &plan, const std::string &base,
                                        RunObserver &observer) {
  const std::string path = pathFrom(base, plan.data.text);
  StatusOr<TextDataset> dataset =
      TextDataset::open(path, {plan.data.sequence, plan.data.samples, plan.data.microbatches},
                        plan.run.seed, {plan.data.textBytes, plan.data.textHash});
  if (dataset.ok())
    return Coordinator(std::move(*dataset), observer);
  if (dataset.status().code() != StatusCode::File)
    return dataset.status();
  return Status(
      StatusCode::File,
      fmt::format(
          "{}\nhelp: paths of the job are relative to its folder; name that folder with `--base`",
          dataset.status().message()));
}

} // namespace vime
