// Every order of the registry as text and back.
#include <gtest/gtest.h>

#include "dialects/Sched/SchedDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "schedules/Registry.h"

namespace vime {
namespace {

TEST(ScheduleText, EveryOrderIsReadBack) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::SchedDialect>();
  for (const Order &order : allOrders()) {
    const ScheduleShape shape = shapeFor(order, /*ranks=*/4, /*microbatches=*/8);
    const ir::PipelineRecord record{std::string(order.name), 8, order.build(shape)};
    auto module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    auto builder = mlir::OpBuilder::atBlockEnd(module.getBody());
    builder.create<ir::PipelineOp>(module.getLoc(), ir::PipelineRecord(record));
    ASSERT_TRUE(mlir::succeeded(mlir::verify(module))) << order.name;
    for (const bool generic : {false, true}) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      module->print(stream, mlir::OpPrintingFlags().printGenericOpForm(generic));
      auto again = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
      ASSERT_TRUE(again) << text;
      EXPECT_EQ((*again->getOps<ir::PipelineOp>().begin()).record(), record) << text;
    }
    module.erase();
  }
}

TEST(ScheduleText, ARowIsPyTorchsGrammar) {
  std::vector<Task> row;
  std::size_t where = 0;
  ASSERT_TRUE(ir::parseRow("0F12 . 3B1 2I0  2W0", row, where));
  EXPECT_EQ(row, (std::vector<Task>{{TaskKind::Forward, 0, 12},
                                    {TaskKind::Idle, -1, -1},
                                    {TaskKind::Backward, 3, 1},
                                    {TaskKind::BackwardInput, 2, 0},
                                    {TaskKind::BackwardWeight, 2, 0}}));
  EXPECT_EQ(ir::rowText(row), "0F12 . 3B1 2I0 2W0");
}

TEST(ScheduleText, PairsStayPairs) {
  std::vector<Task> row;
  std::size_t where = 0;
  ASSERT_TRUE(ir::parseRow("0F3&1B0 0B3", row, where));
  EXPECT_EQ(row, (std::vector<Task>{{TaskKind::Forward, 0, 3, /*overlapsNext=*/true},
                                    {TaskKind::Backward, 1, 0},
                                    {TaskKind::Backward, 0, 3}}));
  EXPECT_EQ(ir::rowText(row), "0F3&1B0 0B3");
}

TEST(ScheduleText, WhatIsNoTaskIsRefusedWhereItStands) {
  for (const char *text :
       {"0F0 0X1", "0F0 F1", "0F0 0F", "0F0 0F1x", "0F0 -1F1", "0F0 0F-1", "0F0 99999999999F0",
        "0F0 ..", "0F0 0F1&", "0F0 &0B0", "0F0 0F1&.", "0F0 0F1&0B0&0B1"}) {
    std::vector<Task> row;
    std::size_t where = 0;
    EXPECT_FALSE(ir::parseRow(text, row, where)) << text;
    EXPECT_EQ(where, 4u) << text;
  }
}

} // namespace
} // namespace vime
