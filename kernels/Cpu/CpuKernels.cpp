// Placeholder while the kernels grow: no type is served yet.
#include "kernels/Cpu/Builds.h"

namespace vime::ISA {

const Kernels *kernelsOf(DataType) { return nullptr; }

} // namespace vime::ISA
