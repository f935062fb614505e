#include "runtime/Exec/RankModel.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "kernels/Native.h"
#include "runtime/Base/FileHash.h"
#include "runtime/Model/LibTorchPlugin.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime {
namespace {

/// Every rank contributes as many sums of squares as the one with the most stages has. Both copies
/// of a stage have the same gradients, which count once.
std::vector<bool> countedSquares(const plan::Plan &plan) {
  std::size_t most = 0;
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank)
    most = std::max(most, plan::programOf(plan, rank)->stages.size());
  std::vector<bool> counts(plan.mesh.pipeline * most);
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank) {
    const std::vector<plan::LocalStage> &stages = plan::programOf(plan, rank)->stages;
    for (std::size_t place = 0; place < stages.size(); ++place)
      counts[rank * most + place] =
          stages[place].stage < depthOf(plan.models[stages[place].model].stages);
  }
  return counts;
}

StatusOr<const Kernels *> libTorchKernels(DataType type) {
  const StatusOr<const LibTorchPlugin *> torch = openLibTorch();
  if (!torch.ok())
    return torch.status();
  if (const Kernels *kernels = (*torch)->kernels(type))
    return kernels;
  return Status(StatusCode::Unacceptable,
                fmt::format("the libtorch kernels have no {}", nameOf(type)));
}

StatusOr<const Kernels *> kernelsFor(const ModelConfig &config, std::optional<Isa> isa) {
  if (config.kernels == KernelLibrary::LibTorch)
    return isa ? Status(
                     StatusCode::Unacceptable,
                     "`--isa` chooses among the native kernels, the plan is for those of LibTorch")
               : libTorchKernels(config.type);
  if (const Kernels *kernels =
          isa ? nativeKernelsFor(*isa, config.type) : nativeKernels(config.type))
    return kernels;
  if (isa && nativeKernels(config.type))
    return Status(StatusCode::Unacceptable, "this machine has not the instructions of `--isa`");
  return Status(StatusCode::Unacceptable, nativeRefusal(config.type));
}

/// The file must be the one that the plan was made for.
StatusOr<std::unique_ptr<Stage>> makeModuleStage(const plan::Model &model, const ModuleStage &stage,
                                                 const Kernels &kernels) {
  const StatusOr<FileFingerprint> file = hashFile(stage.file);
  if (!file.ok())
    return file.status();
  if (file->hash != model.moduleHash)
    return Status(StatusCode::Unacceptable,
                  fmt::format("`{}` is another file than the plan was made for", stage.file));
  const StatusOr<const LibTorchPlugin *> torch = openLibTorch();
  if (!torch.ok())
    return torch.status();
  Status status;
  std::unique_ptr<Stage> made((*torch)->makeStage(model.config, stage, kernels, status));
  if (!made)
    return Status(StatusCode::Unacceptable, status.message());
  return made;
}

} // namespace

std::string pathFrom(const std::string &base, const std::string &path) {
  return path.empty() ? path : (std::filesystem::path(base) / path).lexically_normal().string();
}

StatusOr<RankModel> makeRankModel(const plan::Plan &plan, std::uint32_t rank,
                                  const std::string &base, std::optional<Isa> isa) {
  RankModel result;
  const plan::Model &model = plan.models.front();
  StatusOr<const Kernels *> kernels = kernelsFor(model.config, isa);
  if (!kernels.ok())
    return kernels.status();
  result.kernels = *kernels;
  const std::uint32_t sharers = plan::sharersOf(plan, model),
                      replica = plan::replicaOf(plan.mesh, rank);
  for (const plan::LocalStage &local : plan::programOf(plan, rank)->stages) {
    const StageRange range = model.stages[local.stage];
    StatusOr<std::unique_ptr<Stage>> stage =
        model.config.family == ModelFamily::TorchScript
            ? makeModuleStage(model, {pathFrom(base, model.moduleFile), range, capsOf(plan.data)},
                              *result.kernels)
            : makeStage(model.config, range, capsOf(plan.data), *result.kernels);
    if (!stage.ok())
      return stage.status();
    StageSpec spec = stageSpec(model.config, range, capsOf(plan.data));
    const DataType type = model.config.type;
    result.stages.push_back(
        {.config = model.config,
         .index = local.stage,
         .spec = spec,
         .stage = std::move(*stage),
         .share = sharers == 1 ? wholeOf(spec, type) : stageShareOf(spec, type, sharers, replica),
         .regions = regionsOf(spec, type, sharers)});
  }
  result.counts = countedSquares(plan);
  result.checkpoint = pathFrom(base, model.checkpoint);
  result.checkpointTo = pathFrom(base, plan.checkpoint.directory);
  result.exportTo = pathFrom(base, plan.run.exportTo);
  return result;
}

} // namespace vime
