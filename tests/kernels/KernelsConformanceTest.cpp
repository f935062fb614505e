// The native kernels, both builds, before the suite of all implementations; and the reference
// itself, whose gradients the finite differences judge.
#include "kernels/Native.h"
#include "kernels/Reference/ReferenceKernels.h"
#include "tests/Conformance/KernelsSuite.h"

namespace vime {

std::vector<KernelsUnderTest> kernelsUnderTest() {
  const auto native = [](const char *name, Isa isa) {
    return KernelsUnderTest{.name = name,
                            .float32 = nativeKernelsFor(isa, DataType::Float32),
                            .float64 = nativeKernelsFor(isa, DataType::Float64),
                            .bfloat16 = nativeKernelsFor(isa, DataType::BFloat16)};
  };
  return {native("avx2", Isa::Avx2),
          native("avx512", Isa::Avx512),
          {.name = "reference",
           .float32 = referenceKernels(DataType::Float32),
           .float64 = referenceKernels(DataType::Float64),
           .bfloat16 = referenceKernels(DataType::BFloat16)}};
}

} // namespace vime
