// The kernels by LibTorch before the suite of all implementations.
#include <ATen/Parallel.h>

#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Loan.h"
#include "tests/Conformance/KernelsSuite.h"

namespace vime {

std::vector<KernelsUnderTest> kernelsUnderTest() {
  at::set_num_threads(1);
  lendToLibTorch();
  return {{.name = "libtorch",
           .float32 = libTorchKernels(DataType::Float32),
           .float64 = libTorchKernels(DataType::Float64),
           .library = KernelLibrary::LibTorch}};
}

} // namespace vime
