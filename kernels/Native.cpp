// Chooses the native build: which instruction sets this machine has, and the kernels compiled for
// them.
#include "kernels/Native.h"

#include "kernels/Cpu/Builds.h"

namespace vime {

bool supportsIsa(Isa isa) {
  // Both names include what the operating system must save on a context switch.
  return isa == Isa::Avx512 ? __builtin_cpu_supports("x86-64-v4")
                            : __builtin_cpu_supports("x86-64-v3");
}

std::optional<Isa> bestIsa() {
  for (Isa isa : {Isa::Avx512, Isa::Avx2})
    if (supportsIsa(isa))
      return isa;
  return std::nullopt;
}

const Kernels *nativeKernelsFor(Isa isa, DataType type) {
  if (!supportsIsa(isa))
    return nullptr;
  return isa == Isa::Avx512 ? avx512::kernelsOf(type) : avx2::kernelsOf(type);
}

const Kernels *nativeKernels(DataType type) {
  const std::optional<Isa> isa = bestIsa();
  return isa ? nativeKernelsFor(*isa, type) : nullptr;
}

const char *nativeRefusal(DataType type) {
  if (!bestIsa())
    return "the native kernels need a CPU with AVX2 and FMA (x86-64-v3)";
  return nativeKernels(type) ? "" : "the native kernels compute in float32, float64 and bfloat16";
}

std::optional<Isa> parseIsa(std::string_view text) {
  if (text == "avx2")
    return Isa::Avx2;
  if (text == "avx512")
    return Isa::Avx512;
  return std::nullopt;
}

} // namespace vime
