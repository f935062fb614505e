// The fixture of the suite: one implementation at one element type, beside the reference.
#pragma once

#include "kernels/Kernels.h"
#include "kernels/Reference/ReferenceKernels.h"
#include "kernels/Workspace.h"
#include "tests/Conformance/KernelsSuite.h"
#include "tests/Conformance/KernelsTensor.h"

#include <gtest/gtest.h>

namespace vime {

/// One implementation at one element type.
struct KernelsCase {
  std::string name;
  DataType type;
  const Kernels *kernels;
  KernelLibrary library;
  double slack;
};

inline void PrintTo(const KernelsCase &one, std::ostream *out) { *out << one.name; }

/// Tolerances are relative to the largest expected element; what is met today is below a third of
/// them.
class KernelsConformance : public testing::TestWithParam<KernelsCase> {
protected:
  void SetUp() override {
    if (!GetParam().kernels)
      GTEST_SKIP() << "this machine cannot run " << GetParam().name;
  }
  const Kernels &kernels() const { return *GetParam().kernels; }
  const Kernels &reference() const { return *referenceKernels(type()); }
  DataType type() const { return GetParam().type; }
  KernelLibrary library() const { return GetParam().library; }
  double tolerance() const {
    return (type() == DataType::Float32 ? 2e-6 : 2e-14) * GetParam().slack;
  }

  Tensor tensor(std::int64_t rows, std::int64_t columns, std::int64_t gap = 3) const {
    return Tensor(type(), rows, columns, gap, 1);
  }
  void expectClose(const Tensor &actual, const Tensor &expected, const char *what) const {
    EXPECT_LE(distance(actual, expected), tolerance()) << what;
    EXPECT_TRUE(actual.gapsIntact()) << what << ": wrote between rows";
  }
};

} // namespace vime
