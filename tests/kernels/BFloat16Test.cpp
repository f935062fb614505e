// bfloat16 is rounded to the nearest, ties to even, alike in scalar code and in the vectors of both
// builds.
#include "kernels/BFloat16.h"

#include "kernels/Kernels.h"
#include "kernels/Native.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace vime {
namespace {

std::uint16_t bitsOf(BFloat16 value) { return std::bit_cast<std::uint16_t>(value); }
float fromBits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

TEST(BFloat16, EveryValueSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto value = std::bit_cast<BFloat16>(std::uint16_t(bits));
    if (std::isnan(float(value)))
      EXPECT_TRUE(std::isnan(float(BFloat16(float(value)))));
    else
      ASSERT_EQ(bitsOf(BFloat16(float(value))), bits);
  }
}

TEST(BFloat16, RoundsToTheNearestTiesToEven) {
  EXPECT_EQ(bitsOf(BFloat16(1.f)), 0x3f80);
  EXPECT_EQ(bitsOf(BFloat16(1.f + 0x1p-8f)), 0x3f80);             // a tie, down to even
  EXPECT_EQ(bitsOf(BFloat16(1.f + 0x3p-8f)), 0x3f82);             // a tie, up to even
  EXPECT_EQ(bitsOf(BFloat16(1.f + 0x1p-8f + 0x1p-20f)), 0x3f81);  // above the tie
  EXPECT_EQ(bitsOf(BFloat16(-1.f - 0x1p-8f - 0x1p-20f)), 0xbf81); // away from zero below it
  EXPECT_EQ(bitsOf(BFloat16(fromBits(0x00008000u))), 0x0000);     // of the subnormals too
  EXPECT_EQ(bitsOf(BFloat16(fromBits(0x00018000u))), 0x0002);
}

TEST(BFloat16, OverflowsToInfinityAndKeepsNaN) {
  EXPECT_EQ(bitsOf(BFloat16(std::numeric_limits<float>::max())), 0x7f80);
  EXPECT_EQ(bitsOf(BFloat16(fromBits(0x7f7f7fffu))), 0x7f7f);
  EXPECT_EQ(bitsOf(BFloat16(-INFINITY)), 0xff80);
  for (const std::uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xffffffffu, 0xff800001u})
    EXPECT_TRUE(std::isnan(float(BFloat16(fromBits(bits))))) << std::hex << bits;
}

TEST(BFloat16, VectorsRoundAsScalarsDo) {
  std::vector<float> values;
  for (std::uint32_t high = 0; high < 0x10000; high += 3) // all exponents, odd and even
    for (const std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      values.push_back(fromBits(high << 16 | low));
  for (const Isa isa : {Isa::Avx2, Isa::Avx512}) {
    const Kernels *kernels = nativeKernelsFor(isa, DataType::BFloat16);
    if (!kernels) {
      std::puts("this machine cannot run both builds");
      continue;
    }
    std::vector<BFloat16> rounded(values.size());
    kernels->round(std::int64_t(values.size()), values.data(), rounded.data());
    for (std::size_t at = 0; at < values.size(); ++at)
      ASSERT_EQ(bitsOf(rounded[at]), bitsOf(BFloat16(values[at])))
          << kernels->name() << ", " << std::hex << std::bit_cast<std::uint32_t>(values[at]);
    // The product stores with vectors of its own: 1 · value.
    const std::int64_t count = 4099;
    const BFloat16 one(1.f);
    std::vector<BFloat16> narrow(std::size_t(count), one), product(narrow);
    for (std::int64_t at = 0; at < count; ++at)
      narrow[std::size_t(at)] = std::bit_cast<BFloat16>(std::uint16_t(at * 13));
    std::vector<std::byte> workspace(1 << 21);
    kernels->product({.rows = 1,
                      .columns = count,
                      .depth = 1,
                      .a = {&one, 1, 1},
                      .b = {narrow.data(), count, 1},
                      .result = {product.data(), count}},
                     workspace.data());
    for (std::size_t at = 0; at < narrow.size(); ++at)
      ASSERT_EQ(bitsOf(product[at]), bitsOf(BFloat16(0.f + float(narrow[at]))))
          << kernels->name() << " at " << at;
  }
}

} // namespace
} // namespace vime
