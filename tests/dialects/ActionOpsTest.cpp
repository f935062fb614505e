// Ops of actions: exactly those of the table of opcodes, and each judged by it.
#include <gtest/gtest.h>

#include <set>

#include "dialects/Plan/PlanBuilder.h"
#include "mlir/IR/Verifier.h"

namespace vime {
namespace {

using plan::Signature;

class ActionOps : public testing::TestWithParam<const Signature *> {
protected:
  ActionOps()
      : diagnostics(&context, [this](mlir::Diagnostic &diagnostic) { said = diagnostic.str(); }) {
    context.loadDialect<ir::PlanDialect>();
  }

  // What an op by itself objects to; "" if nothing.
  std::string objection(const ir::ActionRecord &record) {
    mlir::Block block;
    ir::ActionAppender(mlir::UnknownLoc::get(&context)).append(block, record);
    said.clear();
    return mlir::succeeded(mlir::verify(&block.front())) ? "" : said;
  }

  ir::ActionRecord legal() {
    ir::ActionRecord record{.action = {.opcode = code(GetParam()->opcode)}, .uses = {}};
    std::vector<ir::Use> uses;
    for (std::size_t operand = 0; operand < GetParam()->operands.size(); ++operand)
      uses.push_back({static_cast<std::int32_t>(operand)});
    setUses(record, uses, &context);
    return record;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string said;
  mlir::ScopedDiagnosticHandler diagnostics;
};

TEST_P(ActionOps, LegalWithAndWithoutOperands) {
  EXPECT_EQ(objection(legal()), "");
  EXPECT_EQ(objection({.action = {.opcode = code(GetParam()->opcode)}, .uses = {}}), "");
}

TEST_P(ActionOps, HaveTheirOwnOpcode) {
  mlir::Block block;
  ir::ActionAppender(mlir::UnknownLoc::get(&context)).append(block, legal());
  block.front().getPropertiesStorage().as<ir::ActionRecord *>()->action.opcode ^= 1;
  EXPECT_TRUE(mlir::failed(mlir::verify(&block.front())));
  EXPECT_NE(said.find("which is not its own"), std::string::npos) << said;
}

TEST_P(ActionOps, HaveAsManyOperandsAsTheTableSays) {
  ir::ActionRecord record = legal();
  auto uses = usesOf(record);
  uses.push_back({3});
  setUses(record, uses, &context);
  EXPECT_NE(
      objection(record).find("its signature has " + std::to_string(GetParam()->operands.size())),
      std::string::npos)
      << said;
}

TEST_P(ActionOps, LackOnlyWhatIsOptional) {
  for (std::size_t operand = 0; operand < GetParam()->operands.size(); ++operand) {
    ir::ActionRecord record = legal();
    auto uses = usesOf(record);
    uses[operand].buffer = -1;
    setUses(record, uses, &context);
    EXPECT_EQ(objection(record).empty(), GetParam()->operands[operand].optional) << said;
  }
}

TEST_P(ActionOps, NameAStageOnlyWhereTheyBelongToOne) {
  ir::ActionRecord record = legal();
  record.action.stage = 1;
  EXPECT_EQ(objection(record).empty(),
            GetParam()->perStage || GetParam()->family == plan::Family::Transfer)
      << said;
}

TEST_P(ActionOps, NameAMicrobatchOnlyWhereTheyBelongToOne) {
  ir::ActionRecord record = legal();
  record.action.microbatch = 1;
  EXPECT_EQ(objection(record).empty(), GetParam()->perMicrobatch) << said;
}

TEST_P(ActionOps, KnowTheirFlags) {
  ir::ActionRecord record = legal();
  record.action.flags = 128;
  EXPECT_NE(objection(record).find("unknown flags 128"), std::string::npos) << said;
  record.action.flags = plan::kGroupBegin;
  EXPECT_EQ(objection(record).empty(), GetParam()->family == plan::Family::Transfer) << said;
}

TEST_P(ActionOps, HaveNoImmediateWithoutMeaning) {
  ir::ActionRecord record = legal();
  record.action.immediate = 500;
  if (GetParam()->opcode == plan::Opcode::BroadcastWeights)
    return; // which part
  EXPECT_NE(objection(record).find("has immediate 500"), std::string::npos) << said;
}

std::vector<const Signature *> allSignatures() {
  std::vector<const Signature *> all;
  for (const Signature &signature : plan::signatures())
    all.push_back(&signature);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, ActionOps, testing::ValuesIn(allSignatures()),
                         [](const auto &info) { return std::string(info.param->name); });

TEST(ActionOpTable, HoldsTheOpsOfTheTableOfOpcodes) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::PlanDialect>();
  std::set<std::string> ops, opcodes;
  for (const mlir::RegisteredOperationName op : context.getRegisteredOperations())
    if (op.hasTrait<ir::IsAction>())
      ops.insert(op.stripDialect().str());
  for (const Signature &signature : plan::signatures())
    opcodes.insert(std::string(signature.name));
  EXPECT_EQ(ops, opcodes);
}

// 64 bytes of an Operation, and 40 of its own: a million actions take about 110 MB.
TEST(ActionOpTable, KeepsActionsSmall) { EXPECT_EQ(sizeof(ir::ActionRecord), 40u); }

} // namespace
} // namespace vime
