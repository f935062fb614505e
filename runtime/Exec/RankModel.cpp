#include "runtime/Exec/RankModel.h"

#include <algorithm>
#include <filesystem>
#include <span>

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
  const auto trainedBy = [&](std::uint32_t rank) {
    const std::vector<plan::LocalStage> &all = plan::programOf(plan, rank)->stages;
    const auto end = std::find_if_not(all.begin(), all.end(), plan::isTrained); // behind: others
    return std::span(all.begin(), end);
  };
  std::size_t most = 0;
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank)
    most = std::max(most, trainedBy(rank).size());
  std::vector<bool> counts(plan.mesh.pipeline * most);
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank) {
    const std::span<const plan::LocalStage> stages = trainedBy(rank);
    for (std::size_t place = 0; place < stages.size(); ++place)
      counts[rank * most + place] = stages[place].stage < depthOf(plan.models.front().stages);
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

/// Of a stage that the rank computes with by itself.
StatusOr<std::unique_ptr<Stage>> makeStageOf(const plan::Plan &plan, const plan::Model &model,
                                             StageRange range, const std::string &base,
                                             const Kernels &kernels) {
  if (model.config.family == ModelFamily::TorchScript)
    return makeModuleStage(model, {pathFrom(base, model.moduleFile), range, capsOf(plan.data)},
                           kernels);
  return makeStage(model.config, range, capsOf(plan.data), kernels);
}

/// Without the stage itself.
RankStage describeStage(const plan::Plan &plan, std::uint32_t rank, plan::LocalStage local,
                        const std::string &base) {
  const plan::Model &model = plan.models[local.model];
  const DataType type = model.config.type;
  const StageSpec spec = stageSpec(model.config, model.stages[local.stage], capsOf(plan.data));
  const std::uint32_t sharers =
      plan.mesh.isEngine(rank) ? 1 : plan::sharersOf(plan, model); // engines have all of it
  return {.config = model.config,
          .index = local.stage,
          .spec = spec,
          .share = sharers == 1
                       ? wholeOf(spec, type)
                       : stageShareOf(spec, type, sharers, plan::replicaOf(plan.mesh, rank)),
          .regions = regionsOf(spec, type, sharers),
          .checkpoint = pathFrom(base, model.checkpoint),
          .isTrained = plan::isTrained(local)};
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
  for (const plan::LocalStage &local : plan::programOf(plan, rank)->stages) {
    result.stages.push_back(describeStage(plan, rank, local, base));
    if (plan.mesh.isEngine(rank))
      continue;
    const plan::Model &own = plan.models[local.model];
    StatusOr<std::unique_ptr<Stage>> stage =
        makeStageOf(plan, own, own.stages[local.stage], base, *result.kernels);
    if (!stage.ok())
      return stage.status();
    result.stages.back().stage = std::move(*stage);
  }
  result.counts = countedSquares(plan);
  result.checkpointTo = pathFrom(base, plan.checkpoint.directory);
  result.exportTo = pathFrom(base, plan.run.exportTo);
  return result;
}

} // namespace vime
