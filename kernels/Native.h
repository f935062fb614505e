// The native kernels: our own for x86-64 CPUs, one source compiled twice (x86-64-v3 and -v4),
// chosen once at run time.
//
// Both builds give the same bits, so the choice is one of speed only. A machine without AVX2 and
// FMA is refused: emulated fused multiply-adds would be sixty times slower.
#pragma once

#include "kernels/DataType.h"

#include <optional>
#include <string_view>

namespace vime {

class Kernels;

enum class Isa { Avx2, Avx512 }; // x86-64-v3, x86-64-v4

/// Whether this machine and its operating system can run the build.
bool supportsIsa(Isa isa);

/// The fastest build this machine can run.
std::optional<Isa> bestIsa();

/// The kernels of the fastest build; null when the machine cannot run any or there are none for
/// `type` (then nativeRefusal says why). They live as long as the program.
const Kernels *nativeKernels(DataType type);

/// The kernels of one build (for tests and tools); null as above.
const Kernels *nativeKernelsFor(Isa isa, DataType type);

/// Why nativeKernels(type) is null: lower case, no full stop; empty when it is not.
const char *nativeRefusal(DataType type);

/// `avx2` or `avx512`, for flags of tools; nothing when it is neither.
std::optional<Isa> parseIsa(std::string_view text);

} // namespace vime
