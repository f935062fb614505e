// PlanBuilder: makes the ops of a plan's parts, one behind the other. Behind BuildPlan.h and
// UpdatePlan.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dialects/Plan/PlanDialect.h"
#include "mlir/IR/Builders.h"

namespace vime::ir {

/// Appends actions to blocks, all with one location. The only place where their ops are made,
/// because it is done by the million.
class ActionAppender {
public:
  explicit ActionAppender(mlir::Location location);
  /// The opcode must be a known one.
  void append(mlir::Block &block, const ActionRecord &record);

private:
  mlir::Location location;
  mlir::DictionaryAttr noAttributes;
  std::vector<mlir::OperationName> names; // in the order of plan::signatures()
  std::vector<std::uint8_t> nameOf;       // by opcode
};

/// Lists of operands as attributes. Actions that differ in the microbatch share their place in the
/// pool, and so the list.
class UsesOfProgram {
public:
  UsesOfProgram(mlir::MLIRContext *context, const std::vector<std::uint32_t> &pool)
      : context(context), pool(pool), known(pool.size()) {}

  ActionRecord recordOf(const plan::Action &action);

private:
  struct Known {
    std::size_t count = 0;
    mlir::DenseI32ArrayAttr uses;
  };
  mlir::MLIRContext *context;
  const std::vector<std::uint32_t> &pool;
  std::vector<Known> known; // by place of the first operand
};

/// Whether every program can be said in ops: loops form a tree, opcodes are known,
/// lists of operands lie in their pool.
bool isWellFormed(const plan::Plan &plan);

class PlanBuilder {
public:
  PlanBuilder(mlir::OpBuilder where, mlir::Location location)
      : builder(where), location(location), appender(location) {}

  /// Everything but programs.
  void tables(const plan::Plan &plan);
  void program(const plan::Plan &plan, std::size_t index);
  /// What a program holds, into its empty block.
  void fillProgram(mlir::Block &block, const plan::Program &program);
  /// At the start of a program's block.
  void lanesAndStages(mlir::Block &block, const plan::Program &program);

private:
  template <typename Op, typename Record> Op add(const Record &record) {
    return builder.create<Op>(location, record);
  }
  template <typename Op, typename Record> void addAll(const std::vector<Record> &records) {
    for (const Record &record : records)
      add<Op>(record);
  }
  // An op that is left out where it would say nothing.
  template <typename Op, typename Record> void addUnlessEmpty(const Record &record) {
    if (record != Record())
      add<Op>(record);
  }
  /// An empty loop or case at the end of a block.
  mlir::Block &enclose(mlir::Block &into, const plan::Loop *loop, const plan::Case *one);
  void layout(const plan::Layout &layout, const std::string &name);

  mlir::OpBuilder builder;
  mlir::Location location;
  ActionAppender appender;
};

} // namespace vime::ir
