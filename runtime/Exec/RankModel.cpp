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

namespace vime {
namespace {

/// Tensors of every stage, and the place of its first square among those of a replica's ranks.
struct StageSquares {
  std::uint32_t tensors = 0, place = 0;
};

std::uint32_t tensorCount(const plan::Plan &plan, const plan::LocalStage &local) {
  const plan::Model &model = plan.models[local.model];
  return static_cast<std::uint32_t>(
      stageSpec(model.config, model.stages[local.stage], capsOf(plan.data)).tensors.size());
}

/// Every rank contributes as many squares as the one with the most tensors has; the rest stays
/// zero.
std::vector<StageSquares> squaresOfStages(const plan::Plan &plan) {
  std::vector<StageSquares> squares(plan.models.front().stages.size());
  std::vector<std::uint32_t> placeInRank(squares.size());
  std::uint32_t contribution = 0;
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank) {
    std::uint32_t ofRank = 0;
    for (const plan::LocalStage &local : plan::programOf(plan, rank)->stages) {
      squares[local.stage].tensors = tensorCount(plan, local);
      placeInRank[local.stage] = ofRank;
      ofRank += squares[local.stage].tensors;
    }
    contribution = std::max(contribution, ofRank);
  }
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank)
    for (const plan::LocalStage &local : plan::programOf(plan, rank)->stages)
      squares[local.stage].place = rank * contribution + placeInRank[local.stage];
  return squares;
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
  std::uint32_t square = 0;
  for (const plan::LocalStage &local : plan::programOf(plan, rank)->stages) {
    const StageRange range = model.stages[local.stage];
    StatusOr<std::unique_ptr<Stage>> stage =
        model.config.family == ModelFamily::TorchScript
            ? makeModuleStage(model, {pathFrom(base, model.moduleFile), range, capsOf(plan.data)},
                              *result.kernels)
            : makeStage(model.config, range, capsOf(plan.data), *result.kernels);
    if (!stage.ok())
      return stage.status();
    result.stages.push_back({model.config, local.stage,
                             stageSpec(model.config, range, capsOf(plan.data)), std::move(*stage),
                             square});
    square += static_cast<std::uint32_t>(result.stages.back().spec.tensors.size());
  }
  std::vector<StageSquares> squares = squaresOfStages(plan);
  squares.resize(depthOf(model.stages)); // both copies of a stage have the same gradients
  for (const StageSquares &stage : squares)
    for (std::uint32_t tensor = 0; tensor < stage.tensors; ++tensor)
      result.normOrder.push_back(stage.place + tensor);
  result.checkpoint = pathFrom(base, model.checkpoint);
  result.checkpointTo = pathFrom(base, plan.checkpoint.directory);
  result.exportTo = pathFrom(base, plan.run.exportTo);
  return result;
}

} // namespace vime
