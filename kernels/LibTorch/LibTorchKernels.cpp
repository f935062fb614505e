#include "kernels/LibTorch/LibTorchKernels.h"

#include <memory>

#include "kernels/LibTorch/Call.h"

namespace vime {
namespace {

void *scratch() {
  thread_local const std::unique_ptr<std::byte[]> bytes(new std::byte[kScratchBytes]);
  return bytes.get();
}

} // namespace

Call::Call() : loan(scratch(), kScratchBytes) {}

const Kernels *libTorchKernels(DataType type) {
  static const LibTorchKernels float32(DataType::Float32), float64(DataType::Float64);
  switch (type) {
  case DataType::Float32:
    return &float32;
  case DataType::Float64:
    return &float64;
  default:
    return nullptr;
  }
}

} // namespace vime
