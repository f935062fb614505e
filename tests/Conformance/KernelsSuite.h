// The suite that every implementation of Kernels passes: each kernel on awkward sizes against the
// readable reference, its gradients against finite differences.
//
// A test program links the suite and says which implementations it judges.
#pragma once

#include "kernels/KernelLibrary.h"
#include "kernels/Kernels.h"

#include <ostream>
#include <string>
#include <vector>

namespace vime {

struct KernelsUnderTest {
  std::string name; // letters and digits
  const Kernels *float32;
  const Kernels *float64;
  KernelLibrary library = KernelLibrary::Native; // whose workspaces they ask for
  const Kernels *bfloat16 = nullptr;             // null beside others: there are none
};

inline void PrintTo(const KernelsUnderTest &one, std::ostream *out) { *out << one.name; }

/// Defined by the test program. Implementations that this machine cannot run have null kernels:
/// their tests are skipped and say so.
std::vector<KernelsUnderTest> kernelsUnderTest();

} // namespace vime
