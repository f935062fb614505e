// What an op of an action holds: the executor's own 32 bytes, and the buffers it uses by their
// places in the layout.
//
// Lists of buffers are few (they differ by stage, not by microbatch) and therefore attributes,
// shared by all actions that use the same; where a program's pool has them is decided when it is
// flattened.
#pragma once

#include <vector>

#include "dialects/Record/RecordAttributes.h"
#include "dialects/Record/RecordText.h"
#include "runtime/Plan/Action.h"
#include "runtime/Plan/Opcode.h"

namespace vime::ir {

template <typename ConcreteOp>
class IsAction : public mlir::OpTrait::TraitBase<ConcreteOp, IsAction> {};

struct ActionRecord {
  plan::Action action;          // `operands` is 0; `operandCount` the length of `uses`
  mlir::DenseI32ArrayAttr uses; // null: none; -1 where there is no buffer
  bool operator==(const ActionRecord &) const = default;
};

/// `3:1`, or `_` for 0:0.
struct ColonPair {
  std::uint32_t left = 0, right = 0;
  bool operator==(const ColonPair &) const = default;
};
void printElement(mlir::OpAsmPrinter &printer, const ColonPair &pair);
mlir::ParseResult parseElement(mlir::OpAsmParser &parser, ColonPair &pair);
template <typename Fields> void visitFields(Fields &fields, ColonPair &pair) {
  fields.named("left", pair.left);
  fields.named("right", pair.right);
}

/// A buffer's place, or `_`.
struct Use {
  std::int32_t buffer = -1;
};
void printElement(mlir::OpAsmPrinter &printer, const Use &use);
mlir::ParseResult parseElement(mlir::OpAsmParser &parser, Use &use);
template <typename Fields> void visitFields(Fields &fields, Use &use) {
  fields.named("buffer", use.buffer);
}

/// One flag: `signalled`; a bit without a name by its number.
struct Flag {
  std::uint8_t bit = 0;
};
void printElement(mlir::OpAsmPrinter &printer, const Flag &flag);
mlir::ParseResult parseElement(mlir::OpAsmParser &parser, Flag &flag);
template <typename Fields> void visitFields(Fields &fields, Flag &flag) {
  fields.named("bit", flag.bit);
}

std::vector<ColonPair> waitsOf(const plan::Action &action);
/// False if there are more than an action has room for.
bool setWaits(plan::Action &action, const std::vector<ColonPair> &waits);
std::vector<Flag> flagsOf(const plan::Action &action);
std::vector<Use> usesOf(const ActionRecord &record);
void setUses(ActionRecord &record, const std::vector<Use> &uses, mlir::MLIRContext *context);

template <typename Fields> void visitFields(Fields &fields, ActionRecord &record) {
  plan::Action &action = record.action;
  fields.hidden("opcode", action.opcode);
  const plan::Signature *signature = plan::findSignature(action.opcode);
  const bool ofStage =
      signature && (signature->perStage || signature->family == plan::Family::Transfer);
  fields.optional("stage", action.stage, std::uint16_t{0}, ofStage);
  fields.optional("microbatch", action.microbatch, 0u, signature && signature->perMicrobatch);
  fields.named("lane", action.lane);
  fields.named("time", action.time);
  fields.optional("guard", action.guard, std::uint8_t{0});
  fields.optional("advance", action.step, std::uint8_t{0});
  fields.optional("immediate", action.immediate, std::uint16_t{0});
  std::vector<Flag> flags = flagsOf(action);
  fields.list("flags", flags, /*show=*/false);
  std::vector<ColonPair> waits = waitsOf(action);
  fields.list("waits", waits, /*show=*/false);
  std::vector<Use> uses = usesOf(record);
  fields.list("uses", uses, /*show=*/false);
  if constexpr (Fields::kReads) {
    action.flags = 0;
    for (const Flag &flag : flags)
      action.flags |= flag.bit;
    fields.check(setWaits(action, waits),
                 "an action waits for four others at most, on lanes below 64 and distances "
                 "below 1024");
    setUses(record, uses, fields.context());
  }
}

mlir::ParseResult parseAction(mlir::OpAsmParser &parser, mlir::OperationState &state,
                              ActionRecord &record);

// What must hold of an action by itself, by family; what it names is judged with its program.
mlir::LogicalResult verifySignature(mlir::Operation *op, const ActionRecord &record);
mlir::LogicalResult verifyCompute(mlir::Operation *op, const ActionRecord &record);
mlir::LogicalResult verifyTransfer(mlir::Operation *op, const ActionRecord &record);
mlir::LogicalResult verifyCollective(mlir::Operation *op, const ActionRecord &record);
mlir::LogicalResult verifyMove(mlir::Operation *op, const ActionRecord &record);
mlir::LogicalResult verifyUpdate(mlir::Operation *op, const ActionRecord &record);
mlir::LogicalResult verifyHost(mlir::Operation *op, const ActionRecord &record);
mlir::LogicalResult verifyControl(mlir::Operation *op, const ActionRecord &record);
mlir::LogicalResult verifyRollout(mlir::Operation *op, const ActionRecord &record);

} // namespace vime::ir
