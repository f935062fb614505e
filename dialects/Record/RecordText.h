// RecordText: a record as MLIR assembly prints and reads it.
#pragma once

#include "dialects/Record/RecordFields.h"

namespace vime::ir {

/// The shortest decimal that gives the number back, as MLIR reads it: `3.0e-04`, `0.1`.
std::string shortestText(double value);

class PrintFields {
public:
  static constexpr bool kReads = false;
  explicit PrintFields(mlir::OpAsmPrinter &printer) : printer(printer) {}

  template <typename T> void named(llvm::StringRef name, T &value) {
    space() << name;
    put(value);
  }
  template <typename T> void leading(llvm::StringRef, T &value) { put(value); }
  template <typename T>
  void optional(llvm::StringRef name, T &value, const T &absent, bool show = false) {
    if (show || value != absent)
      named(name, value);
  }
  void flag(llvm::StringRef name, bool &value) {
    if (value)
      space() << name;
  }
  void symbol(llvm::StringRef, std::string &value) {
    space();
    printer.printSymbolName(value);
  }
  template <typename T> void list(llvm::StringRef name, std::vector<T> &values, bool show = true) {
    if (!show && values.empty())
      return;
    space() << name << " [";
    const char *separator = "";
    for (T &value : values) {
      printer << std::exchange(separator, ", ");
      glued = true;
      put(value);
    }
    glued = false;
    printer << ']';
  }
  /// Texts stand on a line each.
  void list(llvm::StringRef name, std::vector<std::string> &values, bool show = true) {
    if (!show && values.empty())
      return;
    space() << name << " [";
    printer.increaseIndent();
    for (std::size_t index = 0; index < values.size(); ++index) {
      printer.printNewline();
      printer.printString(values[index]);
      if (index + 1 < values.size())
        printer << ',';
    }
    printer.decreaseIndent();
    printer << ']';
  }
  template <typename T> void record(llvm::StringRef name, T &value) {
    space() << name;
    visitFields(*this, value);
  }
  template <typename T> void hidden(llvm::StringRef, T &) {}
  void check(bool, const char *) {}
  mlir::MLIRContext *context() const { return nullptr; }

private:
  mlir::OpAsmPrinter &space() {
    if (!std::exchange(glued, false))
      printer << ' ';
    return printer;
  }
  template <Word T> void put(T value) {
    const auto words = Words<T>::all();
    const auto index = static_cast<std::size_t>(value);
    space() << llvm::StringRef(index < words.size() ? words[index] : "?");
  }
  template <Whole T> void put(T value) {
    if constexpr (std::is_signed_v<T>)
      space() << static_cast<std::int64_t>(value);
    else
      space() << static_cast<std::uint64_t>(value);
  }
  void put(double value) { space() << shortestText(value); }
  void put(std::string &value) { space().printString(value); }
  template <Record T> void put(T &value) {
    space();
    if constexpr (requires { printElement(printer, value); }) {
      printElement(printer, value);
    } else {
      printer << '(';
      glued = true;
      visitFields(*this, value);
      glued = false;
      printer << ')';
    }
  }

  mlir::OpAsmPrinter &printer;
  bool glued = false; // the next thing stands right behind the last
};

class ParseFields {
public:
  static constexpr bool kReads = true;
  explicit ParseFields(mlir::OpAsmParser &parser) : parser(parser) {}
  mlir::ParseResult result() const { return mlir::failure(broken); }

  template <typename T> void named(llvm::StringRef name, T &value) {
    keyword(name);
    if (!broken)
      take(value);
  }
  template <typename T> void leading(llvm::StringRef, T &value) {
    if (!broken)
      take(value);
  }
  template <typename T>
  void optional(llvm::StringRef name, T &value, const T &absent, bool = false) {
    if (broken)
      return;
    if (parser.parseOptionalKeyword(name))
      value = absent;
    else
      take(value);
  }
  void flag(llvm::StringRef name, bool &value) {
    if (!broken)
      value = !parser.parseOptionalKeyword(name);
  }
  void symbol(llvm::StringRef, std::string &value);
  template <typename T> void list(llvm::StringRef name, std::vector<T> &values, bool show = true) {
    if (broken)
      return;
    values.clear();
    if (!show && parser.parseOptionalKeyword(name))
      return;
    if (show)
      keyword(name);
    latch(broken || parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, [&] {
      take(values.emplace_back());
      return result();
    }));
  }
  template <typename T> void record(llvm::StringRef name, T &value) {
    keyword(name);
    if (!broken)
      visitFields(*this, value);
  }
  template <typename T> void hidden(llvm::StringRef, T &) {}
  void check(bool holds, const char *message) {
    if (!broken && !holds)
      latch(parser.emitError(parser.getNameLoc(), message));
  }
  mlir::MLIRContext *context() const { return parser.getContext(); }

private:
  void latch(bool failed) { broken = broken || failed; }
  void latch(mlir::ParseResult parsed) { latch(mlir::failed(parsed)); }
  void keyword(llvm::StringRef name) {
    if (!broken)
      latch(parser.parseKeyword(name));
  }
  template <Word T> void take(T &value) { value = static_cast<T>(takeWord(Words<T>::all())); }
  template <Whole T> void take(T &value) {
    value = static_cast<T>(takeWhole(sizeof(T) * 8, std::is_signed_v<T>).getSExtValue());
  }
  void take(double &value);
  void take(std::string &value) { latch(parser.parseString(&value)); }
  template <Record T> void take(T &value) {
    if constexpr (requires { parseElement(parser, value); }) {
      latch(parseElement(parser, value));
    } else {
      latch(parser.parseLParen());
      visitFields(*this, value);
      latch(broken || parser.parseRParen());
    }
  }
  std::size_t takeWord(std::span<const std::string_view> words);
  /// Exactly so many bits; an error if the number needs more.
  llvm::APInt takeWhole(unsigned bits, bool isSigned);

  mlir::OpAsmParser &parser;
  bool broken = false;
};

template <typename T> mlir::ParseResult parseFields(mlir::OpAsmParser &parser, T &value) {
  ParseFields fields(parser);
  visitFields(fields, value);
  return fields.result();
}

template <typename T> void printFields(mlir::OpAsmPrinter &printer, T &value) {
  PrintFields fields(printer);
  visitFields(fields, value);
}

template <typename T>
mlir::ParseResult parseRecord(mlir::OpAsmParser &parser, mlir::OperationState &state, T &value) {
  return mlir::failure(parseFields(parser, value) ||
                       parser.parseOptionalAttrDict(state.attributes));
}

template <typename T> void printRecord(mlir::OpAsmPrinter &printer, mlir::Operation *op, T &value) {
  printFields(printer, value);
  printer.printOptionalAttrDict(op->getDiscardableAttrDictionary().getValue());
}

// With a body, attributes stand behind the word `attributes`: a brace begins the body.
mlir::ParseResult parseBody(mlir::OpAsmParser &parser, mlir::OperationState &state);
void printBody(mlir::OpAsmPrinter &printer, mlir::Operation *op);

template <typename T>
mlir::ParseResult parseRecordWithBody(mlir::OpAsmParser &parser, mlir::OperationState &state,
                                      T &value) {
  return mlir::failure(parseFields(parser, value) || parseBody(parser, state));
}

template <typename T>
void printRecordWithBody(mlir::OpAsmPrinter &printer, mlir::Operation *op, T &value) {
  printFields(printer, value);
  printBody(printer, op);
}

} // namespace vime::ir
