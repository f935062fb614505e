// How the native build is chosen.
#include "kernels/Native.h"

#include "kernels/Kernels.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

TEST(Native, TheBestBuildIsTheWidestThatRuns) {
  if (!bestIsa()) {
    EXPECT_EQ(nativeKernels(DataType::Float32), nullptr);
    EXPECT_STREQ(nativeRefusal(DataType::Float32),
                 "the native kernels need a CPU with AVX2 and FMA (x86-64-v3)");
    return;
  }
  EXPECT_EQ(*bestIsa(), supportsIsa(Isa::Avx512) ? Isa::Avx512 : Isa::Avx2);
  EXPECT_EQ(nativeKernels(DataType::Float32), nativeKernelsFor(*bestIsa(), DataType::Float32));
  EXPECT_STREQ(nativeRefusal(DataType::Float32), "");
}

TEST(Native, KernelsKnowTheirTypeAndBuild) {
  for (const DataType type : {DataType::Float32, DataType::Float64, DataType::BFloat16})
    for (const Isa isa : {Isa::Avx2, Isa::Avx512})
      if (const Kernels *kernels = nativeKernelsFor(isa, type)) {
        EXPECT_EQ(kernels->type(), type);
        EXPECT_STREQ(kernels->name(), isa == Isa::Avx2 ? "native avx2" : "native avx512");
      }
}

TEST(Native, TypesWithoutKernelsAreRefused) {
  if (!bestIsa())
    GTEST_SKIP() << nativeRefusal(DataType::Float32);
  EXPECT_EQ(nativeKernels(DataType::Int32), nullptr);
  EXPECT_STREQ(nativeRefusal(DataType::Int32),
               "the native kernels compute in float32, float64 and bfloat16");
}

TEST(Native, IsaNames) {
  EXPECT_EQ(parseIsa("avx2"), Isa::Avx2);
  EXPECT_EQ(parseIsa("avx512"), Isa::Avx512);
  EXPECT_EQ(parseIsa("AVX2"), std::nullopt);
}

TEST(TensorKey, IsFnv1a) {
  EXPECT_EQ(tensorKey("", 0), 0xcbf29ce484222325u);
  EXPECT_EQ(tensorKey("a", 1), 0xaf63dc4c8601ec8cu);
}

} // namespace
} // namespace vime
