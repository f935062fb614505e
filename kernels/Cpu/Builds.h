// The two builds of the native kernels, as seen from code that any x86-64 machine can run.
#pragma once

#include "kernels/DataType.h"

namespace vime {

class Kernels;

namespace avx2 {
/// Null when this build has no kernels for the type.
const Kernels *kernelsOf(DataType type);
} // namespace avx2

namespace avx512 {
const Kernels *kernelsOf(DataType type);
} // namespace avx512

} // namespace vime
