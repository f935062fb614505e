// LibTorch plug-in: opens libvime_libtorch.so, the only library of vime that links LibTorch, when a
// plan needs its kernels or has a user's module for a model (runtime/Base/Plugin.h).
//
//   StatusOr<const LibTorchPlugin *> torch = openLibTorch();
//   const Kernels *kernels = (*torch)->kernels(DataType::Float32);
//
// Opening it makes LibTorch compute in one thread and allocate from loans
// (kernels/LibTorch/Loan.h).
#pragma once

#include <string>

#include "kernels/Kernels.h"
#include "runtime/Base/Plugin.h"
#include "runtime/Base/Status.h"
#include "runtime/Model/Stage.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

/// A stage of a model whose layers are a user's module.
struct ModuleStage {
  std::string file; // TorchScript
  StageRange range;
  MicrobatchCaps caps;
};

struct LibTorchPlugin {
  /// Null for types without kernels.
  const Kernels *(*kernels)(DataType type);
  /// Reads the file, and fails where the module is not what `config` says. `kernels` are for the
  /// loss. Owned by the caller; null, and a status, on failure.
  Stage *(*makeStage)(const ModelConfig &config, const ModuleStage &stage, const Kernels &kernels,
                      Status &status);
};

/// Opens it once. Unacceptable: it is not there, or of another version.
StatusOr<const LibTorchPlugin *> openLibTorch();

/// The plug-in's one function, and what its other symbol must be.
using LibTorchEntry = const LibTorchPlugin *(*)();
constexpr const char *kLibTorchEntry = "vimeLibTorch",
                     *kLibTorchInterfaceSymbol = "vimeLibTorchInterface";
constexpr std::uint64_t kLibTorchInterface =
    interfaceOf<Kernels, Stage, ModelConfig, StageSpec, ModuleStage, LibTorchPlugin,
                ForwardOperands, LossOperands, BackwardOperands, BackwardInputOperands,
                BackwardWeightOperands, Product, Segments, SliceContext, Attention, AdamW,
                Initializer, KeyValueCache, Status, PolicyLossOperands, PolicyLossSettings,
                LogProbabilityOperands, plan::PolicyNumbers>(7);

} // namespace vime
