#include "runtime/Exec/Coordinator.h"

#include <fmt/format.h>

#include "runtime/Exec/RankModel.h"

namespace vime {

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
