// A plan as ops, as text, as generic text and as bytecode is the same plan.
#include <gtest/gtest.h>

#include "dialects/Plan/BuildPlan.h"
#include "dialects/Plan/FlattenPlan.h"
#include "dialects/Plan/UpdatePlan.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tests/dialects/RandomPlan.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

// The first action of the first loop of the first program.
const mlir::Operation *firstInLoop(mlir::ModuleOp module) {
  ir::ProgramOp program = *ir::findPlan(module).block().getOps<ir::ProgramOp>().begin();
  return &(*program.block().getOps<ir::LoopOp>().begin()).block().front();
}

class PlanText : public testing::Test {
protected:
  PlanText() { context.loadDialect<ir::PlanDialect>(); }

  mlir::OwningOpRef<mlir::ModuleOp> moduleOf(const plan::Plan &plan) {
    auto module = ir::moduleFromPlan(&context, plan);
    EXPECT_TRUE(module);
    EXPECT_TRUE(module && mlir::succeeded(mlir::verify(*module)));
    return module;
  }

  static std::string print(mlir::ModuleOp module, mlir::OpPrintingFlags flags = {}) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, flags);
    return text;
  }

  std::optional<plan::Plan> parse(const std::string &text) {
    const auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    return module ? ir::planFromModule(*module) : std::nullopt;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(PlanText, SmallPlanKeepsEverything) {
  const plan::Plan plan = withSharedOperands(smallPlan({.exportTo = "model"}));
  const auto module = moduleOf(plan);
  EXPECT_EQ(ir::planFromModule(*module), plan);
  EXPECT_EQ(parse(print(*module)), plan);
}

TEST_F(PlanText, RandomPlansKeepEverything) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const plan::Plan plan = randomPlan(seed);
    const auto module = moduleOf(plan);
    ASSERT_EQ(ir::planFromModule(*module), plan);
    const std::string text = print(*module);
    ASSERT_EQ(parse(text), plan) << text;
  }
}

TEST_F(PlanText, GenericTextKeepsEverything) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const plan::Plan plan = randomPlan(seed);
    ASSERT_EQ(parse(print(*moduleOf(plan), mlir::OpPrintingFlags().printGenericOpForm())), plan)
        << seed;
  }
}

TEST_F(PlanText, BytecodeKeepsEverything) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const plan::Plan plan = randomPlan(seed);
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    ASSERT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(*moduleOf(plan), stream)));
    ASSERT_EQ(parse(bytes), plan) << seed;
  }
}

// Whatever the pools look like: actions use the same buffers.
TEST_F(PlanText, OperandListsAreSharedWhenFlattened) {
  const plan::Plan plan = smallPlan();
  const plan::Plan flat = *ir::planFromModule(*moduleOf(plan));
  EXPECT_LT(flat.programs[0].operands.size(), plan.programs[0].operands.size());
  for (std::size_t index = 0; index < plan.programs[0].actions.size(); ++index) {
    const plan::Action &before = plan.programs[0].actions[index],
                       &after = flat.programs[0].actions[index];
    ASSERT_EQ(before.operandCount, after.operandCount);
    for (std::size_t operand = 0; operand < before.operandCount; ++operand)
      EXPECT_EQ(plan.programs[0].operands[before.operands + operand],
                flat.programs[0].operands[after.operands + operand]);
  }
}

TEST_F(PlanText, WithoutActionsEverythingElseIsThere) {
  plan::Plan plan = withSharedOperands(smallPlan());
  const auto module = moduleOf(plan);
  for (plan::Program &program : plan.programs) {
    program.actions.clear();
    program.operands.clear();
    program.loops.clear();
  }
  EXPECT_EQ(ir::planFromOp(ir::findPlan(*module), ir::Flatten::WithoutActions), plan);
}

TEST_F(PlanText, AnUpdateInPlaceSaysTheNewPlan) {
  plan::Plan plan = withSharedOperands(smallPlan());
  const auto module = moduleOf(plan);
  const mlir::Operation *first = firstInLoop(*module);
  plan.run.name = "other";
  plan.layouts[1].buffers[2].count = 7;
  plan.programs[0].lanes[2].slots = 5;
  plan.programs[1].loops[0].period = 99;
  plan.programs[1].actions[4].time = 5;
  plan.programs[1].actions[4].waits[3] = plan::Wait::on(3, 17);
  ASSERT_TRUE(ir::updatePlan(ir::findPlan(*module), plan));
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  EXPECT_EQ(ir::planFromModule(*module), plan);
  EXPECT_EQ(first, firstInLoop(*module));
}

TEST_F(PlanText, AnUpdateMayAddActions) {
  plan::Plan plan = withSharedOperands(smallPlan());
  const auto module = moduleOf(plan);
  plan::Program &program = plan.programs[0];
  program.actions.insert(program.actions.begin() + 1, {.opcode = code(plan::Opcode::Join)});
  ++program.loops[0].begin;
  ++program.loops[0].end;
  ASSERT_TRUE(ir::updatePlan(ir::findPlan(*module), plan));
  EXPECT_EQ(ir::planFromModule(*module), plan);
}

TEST_F(PlanText, AnUpdateWithoutProgramsLeavesThem) {
  const plan::Plan plan = withSharedOperands(smallPlan());
  const auto module = moduleOf(plan);
  plan::Plan settings = plan;
  settings.programs.clear();
  settings.run.seed = 42;
  ASSERT_TRUE(ir::updatePlan(ir::findPlan(*module), settings));
  settings.programs = plan.programs;
  EXPECT_EQ(ir::planFromModule(*module), settings);
}

// What cannot be said in ops is refused, not guessed.
TEST_F(PlanText, ProgramsWithoutFormAreRefused) {
  auto refused = [&](auto damage) {
    plan::Plan plan = smallPlan();
    damage(plan.programs[0]);
    return !ir::moduleFromPlan(&context, plan);
  };
  EXPECT_TRUE(refused([](plan::Program &program) {
    program.loops.push_back(program.loops[0]); // half in, half out
    ++program.loops[1].begin;
    ++program.loops[1].end;
  }));
  EXPECT_TRUE(refused([](plan::Program &program) { program.loops[0].end = 1000; }));
  EXPECT_TRUE(refused([](plan::Program &program) { program.loops[0].end = 0; }));
  EXPECT_TRUE(refused([](plan::Program &program) { program.actions[3].opcode = 0x0999; }));
  EXPECT_TRUE(refused([](plan::Program &program) { program.actions[3].operands = 0xFFFFFFFF; }));
  EXPECT_TRUE(refused([](plan::Program &program) { program.actions[3].operandCount = 0xFFFF; }));
}

} // namespace
} // namespace vime
