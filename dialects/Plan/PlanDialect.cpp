#include "dialects/Plan/PlanDialect.h"

#include "mlir/IR/Builders.h"

#include "dialects/Plan/PlanDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.cpp.inc"

namespace vime::ir {

void PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/PlanOps.cpp.inc"
      >();
}

std::span<const std::string_view> Words<OpcodeWord>::all() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const plan::Signature &signature : plan::signatures())
      names.push_back(signature.name);
    return names;
  }();
  return kNames;
}

OpcodeWord wordOf(std::uint16_t opcode) {
  std::uint8_t index = 0;
  for (const plan::Signature &signature : plan::signatures()) {
    if (code(signature.opcode) == opcode)
      break;
    ++index;
  }
  return static_cast<OpcodeWord>(index);
}

std::uint16_t opcodeOf(OpcodeWord word) {
  const auto index = static_cast<std::size_t>(word);
  return index < plan::signatures().size() ? code(plan::signatures()[index].opcode) : 0;
}

} // namespace vime::ir
