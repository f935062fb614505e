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
};

inline void PrintTo(const KernelsCase &one, std::ostream *out) { *out << one.name; }

/// Tolerances are relative to the largest expected element; what is met today is below a third of
/// them, but of bfloat16, whose tolerance is one unit in the last place: results that differ in the
/// last bits of a float32 round to different sides.
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
  DataType sumType() const { return sumTypeOf(type()); }
  double toleranceOf(DataType type) const {
    return type == DataType::BFloat16 ? 0x1p-7 : type == DataType::Float32 ? 2e-6 : 2e-14;
  }

  Tensor tensor(std::int64_t rows, std::int64_t columns, std::int64_t gap = 3) const {
    return Tensor(type(), rows, columns, gap, 1);
  }
  /// Of what is not rounded to type().
  Tensor sums(std::int64_t rows, std::int64_t columns, std::int64_t gap = 3) const {
    return Tensor(sumType(), rows, columns, gap, 1);
  }
  void expectClose(const Tensor &actual, const Tensor &expected, const char *what,
                   double roundings = 1) const {
    EXPECT_LE(distance(actual, expected), roundings * toleranceOf(actual.type)) << what;
    EXPECT_TRUE(actual.gapsIntact()) << what << ": wrote between rows";
  }
};

} // namespace vime
