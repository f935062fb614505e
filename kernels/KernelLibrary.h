// KernelLibrary: the implementations of Kernels that a plan can ask for. They ask for different
// workspaces, so a plan is made for one of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vime {

enum class KernelLibrary : std::uint8_t {
  Native,  // our own (kernels/Native.h)
  LibTorch // ATen, in a plug-in (kernels/LibTorchPlugin.h)
};

/// The name users write and read: `native`, `libtorch`.
constexpr const char *nameOf(KernelLibrary library) {
  constexpr const char *kNames[] = {"native", "libtorch"};
  return kNames[static_cast<std::size_t>(library)];
}

} // namespace vime
