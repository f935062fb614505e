// What the plug-in libvime_libtorch.so shows: its functions, and the number that its program must
// have too.
#include <ATen/Parallel.h>

#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Loan.h"
#include "runtime/Model/LibTorch/TorchScriptStage.h"
#include "runtime/Model/LibTorchPlugin.h"

namespace vime {
namespace {

Stage *makeModuleStage(const ModelConfig &config, const ModuleStage &stage, const Kernels &kernels,
                       Status &status) {
  StatusOr<std::unique_ptr<TorchScriptStage>> made = TorchScriptStage::load(config, stage, kernels);
  status = made.status();
  return made.ok() ? made->release() : nullptr;
}

} // namespace
} // namespace vime

extern "C" {
extern const std::uint64_t vimeLibTorchInterface;
const std::uint64_t vimeLibTorchInterface = vime::kLibTorchInterface;

const vime::LibTorchPlugin *vimeLibTorch() {
  static const vime::LibTorchPlugin plugin = [] {
    at::set_num_threads(1); // a rank is one thread; ranks share the machine
    vime::lendToLibTorch();
    return vime::LibTorchPlugin{vime::libTorchKernels, vime::makeModuleStage};
  }();
  return &plugin;
}
}
