// The kernels of this build, one constant object per element type.
#include "kernels/Cpu/CpuKernels.h"

#include "kernels/Cpu/Builds.h"

#define VIME_TEXT(x) #x
#define VIME_NAME(isa) "native " VIME_TEXT(isa)

namespace vime::ISA {

template <> DataType CpuKernels<float>::type() const { return DataType::Float32; }
template <> DataType CpuKernels<double>::type() const { return DataType::Float64; }
template <> DataType CpuKernels<BFloat16>::type() const { return DataType::BFloat16; }
template <typename E> const char *CpuKernels<E>::name() const { return VIME_NAME(ISA); }

const Kernels *kernelsOf(DataType type) {
  static constinit CpuKernels<float> float32;
  static constinit CpuKernels<double> float64;
  static constinit CpuKernels<BFloat16> bfloat16;
  switch (type) {
  case DataType::Float32:
    return &float32;
  case DataType::Float64:
    return &float64;
  case DataType::BFloat16:
    return &bfloat16;
  default:
    return nullptr;
  }
}

} // namespace vime::ISA
