#include "dialects/Record/RecordText.h"

#include <charconv>
#include <cmath>

#include "llvm/ADT/StringExtras.h"

namespace vime::ir {

std::string shortestText(double value) {
  if (!std::isfinite(value)) // as its bits
    return "0x" + llvm::utohexstr(llvm::APFloat(value).bitcastToAPInt().getZExtValue(), false, 16);
  char digits[32];
  std::string text(digits, std::to_chars(digits, std::end(digits), value).ptr);
  if (text.find('.') == std::string::npos)
    text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

void ParseFields::symbol(llvm::StringRef, std::string &value) {
  mlir::StringAttr name;
  if (broken)
    return;
  latch(parser.parseSymbolName(name));
  if (name)
    value = name.str();
}

void ParseFields::take(double &value) {
  // `0.1`; for what is no number the bits, `0x7FF8000000000000`.
  llvm::APFloat exact(0.0);
  latch(parser.parseFloat(llvm::APFloat::IEEEdouble(), exact));
  value = exact.convertToDouble();
}

std::size_t ParseFields::takeWord(std::span<const std::string_view> words) {
  const llvm::SMLoc place = parser.getCurrentLocation();
  llvm::StringRef word;
  if (mlir::failed(parser.parseOptionalKeyword(&word))) {
    latch(parser.emitError(place, "expected one of ") << llvm::join(words, ", "));
    return 0;
  }
  for (std::size_t index = 0; index < words.size(); ++index)
    if (word == llvm::StringRef(words[index]))
      return index;
  latch(parser.emitError(place, "`") << word << "` is none of " << llvm::join(words, ", "));
  return 0;
}

llvm::APInt ParseFields::takeWhole(unsigned bits, bool isSigned) {
  const llvm::SMLoc place = parser.getCurrentLocation();
  llvm::APInt value;
  const mlir::OptionalParseResult parsed = parser.parseOptionalInteger(value);
  if (!parsed.has_value() || mlir::failed(*parsed)) {
    latch(parser.emitError(place, "expected a whole number"));
    return llvm::APInt(bits, 0);
  }
  // The parser gives non-negative numbers a zero sign bit.
  const bool fits = isSigned ? value.isSignedIntN(bits) : !value.isNegative() && value.isIntN(bits);
  if (!fits)
    latch(parser.emitError(place, "the number does not fit ")
          << bits << (isSigned ? " bits" : " bits without sign"));
  return isSigned ? value.sextOrTrunc(bits) : value.zextOrTrunc(bits);
}

mlir::ParseResult parseBody(mlir::OpAsmParser &parser, mlir::OperationState &state) {
  mlir::Region *body = state.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseRegion(*body))
    return mlir::failure();
  if (body->empty())
    body->emplaceBlock();
  return mlir::success();
}

void printBody(mlir::OpAsmPrinter &printer, mlir::Operation *op) {
  printer.printOptionalAttrDictWithKeyword(op->getDiscardableAttrDictionary().getValue());
  printer << ' ';
  printer.printRegion(op->getRegion(0), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/true);
}

} // namespace vime::ir
