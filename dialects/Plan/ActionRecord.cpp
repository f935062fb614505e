#include "dialects/Plan/ActionRecord.h"

#include <array>

namespace vime::ir {
namespace {

// By bit, ascending from 1.
constexpr std::array<std::string_view, 6> kFlagNames = {
    "signalled", "group_begin", "group_end", "host_blocking", "skip_if_empty", "last_use"};

} // namespace

void printElement(mlir::OpAsmPrinter &printer, const ColonPair &pair) {
  if (pair == ColonPair{})
    printer << '_';
  else
    printer << pair.left << ':' << pair.right;
}

mlir::ParseResult parseElement(mlir::OpAsmParser &parser, ColonPair &pair) {
  if (mlir::succeeded(parser.parseOptionalKeyword("_")))
    return mlir::success();
  return mlir::failure(parser.parseInteger(pair.left) || parser.parseColon() ||
                       parser.parseInteger(pair.right));
}

void printElement(mlir::OpAsmPrinter &printer, const Use &use) {
  if (use.buffer == -1)
    printer << '_';
  else
    printer << use.buffer;
}

mlir::ParseResult parseElement(mlir::OpAsmParser &parser, Use &use) {
  if (mlir::succeeded(parser.parseOptionalKeyword("_")))
    return mlir::success();
  return parser.parseInteger(use.buffer);
}

void printElement(mlir::OpAsmPrinter &printer, const Flag &flag) {
  const auto index = static_cast<std::size_t>(__builtin_ctz(flag.bit));
  if (index < kFlagNames.size())
    printer << llvm::StringRef(kFlagNames[index]);
  else
    printer << static_cast<unsigned>(flag.bit);
}

mlir::ParseResult parseElement(mlir::OpAsmParser &parser, Flag &flag) {
  llvm::StringRef word;
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (mlir::failed(parser.parseOptionalKeyword(&word)))
    return parser.parseInteger(flag.bit);
  for (std::size_t index = 0; index < kFlagNames.size(); ++index)
    if (word == llvm::StringRef(kFlagNames[index])) {
      flag.bit = static_cast<std::uint8_t>(1u << index);
      return mlir::success();
    }
  return parser.emitError(place, "`") << word << "` is no flag of an action";
}

std::vector<ColonPair> waitsOf(const plan::Action &action) {
  std::vector<ColonPair> waits;
  for (const plan::Wait wait : action.waits)
    waits.push_back(
        {static_cast<std::uint32_t>(wait.lane()), static_cast<std::uint32_t>(wait.distance())});
  while (!waits.empty() && waits.back() == ColonPair{})
    waits.pop_back();
  return waits;
}

bool setWaits(plan::Action &action, const std::vector<ColonPair> &waits) {
  action.waits = {};
  if (waits.size() > action.waits.size())
    return false;
  for (std::size_t index = 0; index < waits.size(); ++index) {
    const auto [lane, distance] = waits[index];
    if (lane >= plan::Wait::kMaxLanes || distance > plan::Wait::kMaxDistance)
      return false;
    action.waits[index] = plan::Wait::on(static_cast<int>(lane), static_cast<int>(distance));
  }
  return true;
}

std::vector<Flag> flagsOf(const plan::Action &action) {
  std::vector<Flag> flags;
  for (unsigned bit = 1; bit < 256; bit *= 2)
    if (action.flags & bit)
      flags.push_back({static_cast<std::uint8_t>(bit)});
  return flags;
}

std::vector<Use> usesOf(const ActionRecord &record) {
  std::vector<Use> uses;
  if (record.uses)
    for (const std::int32_t buffer : record.uses.asArrayRef())
      uses.push_back({buffer});
  return uses;
}

void setUses(ActionRecord &record, const std::vector<Use> &uses, mlir::MLIRContext *context) {
  llvm::SmallVector<std::int32_t> buffers;
  for (const Use &use : uses)
    buffers.push_back(use.buffer);
  record.uses = buffers.empty() ? nullptr : mlir::DenseI32ArrayAttr::get(context, buffers);
  record.action.operands = 0;
  record.action.operandCount = static_cast<std::uint16_t>(buffers.size());
}

mlir::ParseResult parseAction(mlir::OpAsmParser &parser, mlir::OperationState &state,
                              ActionRecord &record) {
  if (const plan::Signature *signature =
          plan::findSignature(std::string_view(state.name.stripDialect())))
    record.action.opcode = code(signature->opcode);
  return parseRecord(parser, state, record);
}

} // namespace vime::ir
