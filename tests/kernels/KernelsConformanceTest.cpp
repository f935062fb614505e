// The native kernels, both builds, before the suite of all implementations; and the reference
// itself, whose gradients the finite differences judge.
#include "kernels/Native.h"
#include "kernels/Reference/ReferenceKernels.h"
#include "tests/Conformance/KernelsSuite.h"

namespace vime {

std::vector<KernelsUnderTest> kernelsUnderTest() {
  const auto native = [](const char *name, Isa isa) {
    return KernelsUnderTest{name, nativeKernelsFor(isa, DataType::Float32),
                            nativeKernelsFor(isa, DataType::Float64)};
  };
  return {native("avx2", Isa::Avx2),
          native("avx512", Isa::Avx512),
          {"reference", referenceKernels(DataType::Float32), referenceKernels(DataType::Float64)}};
}

} // namespace vime
