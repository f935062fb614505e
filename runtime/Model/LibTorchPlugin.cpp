#include "runtime/Model/LibTorchPlugin.h"

namespace vime {

StatusOr<const LibTorchPlugin *> openLibTorch() {
  static const StatusOr<void *> entry = openPlugin({.what = "LibTorch, which the plan needs, is",
                                                    .file = "libvime_libtorch.so",
                                                    .entry = kLibTorchEntry,
                                                    .interfaceSymbol = kLibTorchInterfaceSymbol,
                                                    .interfaceIs = kLibTorchInterface});
  if (!entry.ok())
    return entry.status();
  return reinterpret_cast<LibTorchEntry>(*entry)();
}

} // namespace vime
