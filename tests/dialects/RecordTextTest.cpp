// Numbers in text: short, and the same when read back.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "dialects/Plan/PlanDialect.h"
#include "mlir/Parser/Parser.h"

namespace vime {
namespace {

TEST(ShortestText, IsShort) {
  EXPECT_EQ(ir::shortestText(0.1), "0.1");
  EXPECT_EQ(ir::shortestText(600), "600.0");
  EXPECT_EQ(ir::shortestText(3e-4), "3.0e-04");
  EXPECT_EQ(ir::shortestText(1e-8), "1.0e-08");
  EXPECT_EQ(ir::shortestText(-1e300), "-1.0e+300");
  EXPECT_EQ(ir::shortestText(std::numeric_limits<double>::infinity()), "0x7FF0000000000000");
}

TEST(ShortestText, IsReadBackToTheBit) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::PlanDialect>();
  std::mt19937_64 random(1);
  std::vector<double> values = {0, -0.0, 1e-320, std::numeric_limits<double>::max(),
                                std::numeric_limits<double>::infinity()};
  for (int count = 0; count < 200; ++count)
    if (const double value = std::bit_cast<double>(random()); std::isfinite(value))
      values.push_back(value);
  for (const double value : values) {
    const auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "plan.plan schedule \"\" compiler \"\" { plan.mesh pp 1 dp 1 cp 1 tp 1 plan.limits "
        "connect_seconds 1.0 transfer_seconds " +
            ir::shortestText(value) + " memory_bytes 0 }",
        &context);
    ASSERT_TRUE(module) << ir::shortestText(value);
    (*module)->walk([&](ir::LimitsOp limits) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(limits.record().transferSeconds),
                std::bit_cast<std::uint64_t>(value));
    });
  }
}

} // namespace
} // namespace vime
