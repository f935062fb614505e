// RecordAttributes: a record as a dictionary, for MLIR's generic form and its bytecode, and a
// record's hash.
#pragma once

#include <functional>

#include "dialects/Record/RecordFields.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace vime::ir {

class CollectFields {
public:
  static constexpr bool kReads = false;
  explicit CollectFields(mlir::MLIRContext *context) : owner(context) {}
  mlir::DictionaryAttr take() { return mlir::DictionaryAttr::get(owner, fields); }

  template <typename T> void named(llvm::StringRef name, T &value) { add(name, value); }
  template <typename T> void leading(llvm::StringRef name, T &value) { add(name, value); }
  template <typename T> void hidden(llvm::StringRef name, T &value) { add(name, value); }
  template <typename T> void record(llvm::StringRef name, T &value) { add(name, value); }
  template <typename T> void optional(llvm::StringRef name, T &value, const T &, bool = false) {
    add(name, value);
  }
  void flag(llvm::StringRef name, bool &value) { add(name, value); }
  void symbol(llvm::StringRef name, std::string &value) { add(name, value); }
  template <typename T> void list(llvm::StringRef name, std::vector<T> &values, bool = true) {
    llvm::SmallVector<mlir::Attribute> elements;
    for (T &value : values)
      elements.push_back(attribute(value));
    fields.push_back({mlir::StringAttr::get(owner, name), mlir::ArrayAttr::get(owner, elements)});
  }
  void check(bool, const char *) {}
  mlir::MLIRContext *context() const { return owner; }

private:
  template <typename T> void add(llvm::StringRef name, T &value) {
    fields.push_back({mlir::StringAttr::get(owner, name), attribute(value)});
  }
  mlir::Attribute attribute(bool value) { return mlir::BoolAttr::get(owner, value); }
  template <Whole T> mlir::Attribute attribute(T value) {
    return mlir::IntegerAttr::get(mlir::IntegerType::get(owner, 64),
                                  static_cast<std::int64_t>(value));
  }
  template <Word T> mlir::Attribute attribute(T value) {
    return attribute(static_cast<std::int64_t>(value));
  }
  mlir::Attribute attribute(double value) {
    return mlir::FloatAttr::get(mlir::Float64Type::get(owner), value);
  }
  mlir::Attribute attribute(std::string &value) { return mlir::StringAttr::get(owner, value); }
  template <Record T> mlir::Attribute attribute(T &value) {
    CollectFields inner(owner);
    visitFields(inner, value);
    return inner.take();
  }

  mlir::MLIRContext *owner;
  mlir::NamedAttrList fields;
};

class DistributeFields {
public:
  static constexpr bool kReads = true;
  explicit DistributeFields(mlir::Attribute attribute)
      : dictionary(llvm::dyn_cast_or_null<mlir::DictionaryAttr>(attribute)) {
    if (!dictionary)
      problem = "expected a dictionary of fields";
  }
  const std::string &whyNot() const { return problem; }

  template <typename T> void named(llvm::StringRef name, T &value) { get(name, value); }
  template <typename T> void leading(llvm::StringRef name, T &value) { get(name, value); }
  template <typename T> void hidden(llvm::StringRef name, T &value) { get(name, value); }
  template <typename T> void record(llvm::StringRef name, T &value) { get(name, value); }
  template <typename T> void optional(llvm::StringRef name, T &value, const T &, bool = false) {
    get(name, value);
  }
  void flag(llvm::StringRef name, bool &value) { get(name, value); }
  void symbol(llvm::StringRef name, std::string &value) { get(name, value); }
  template <typename T> void list(llvm::StringRef name, std::vector<T> &values, bool = true) {
    values.clear();
    const auto elements = find<mlir::ArrayAttr>(name);
    if (!elements)
      return;
    for (mlir::Attribute element : elements)
      if (problem.empty())
        accept(name, element, values.emplace_back());
  }
  void check(bool holds, const char *message) {
    if (problem.empty() && !holds)
      problem = message;
  }
  mlir::MLIRContext *context() const { return dictionary.getContext(); }

private:
  template <typename Kind> Kind find(llvm::StringRef name) {
    if (!problem.empty())
      return {};
    const auto found = llvm::dyn_cast_or_null<Kind>(dictionary.get(name));
    if (!found)
      refuse(name);
    return found;
  }
  void refuse(llvm::StringRef name) {
    problem = ("field `" + name + "` is missing or of another kind").str();
  }
  template <typename T> void get(llvm::StringRef name, T &value) {
    if (const auto found = find<mlir::Attribute>(name))
      accept(name, found, value);
  }
  template <Whole T> void accept(llvm::StringRef name, mlir::Attribute attribute, T &value) {
    const auto number = llvm::dyn_cast<mlir::IntegerAttr>(attribute);
    if (!number || number.getValue().getBitWidth() != 64)
      return refuse(name);
    value = static_cast<T>(number.getValue().getSExtValue());
    if (static_cast<std::int64_t>(value) != number.getValue().getSExtValue())
      problem = ("field `" + name + "` is out of range").str();
  }
  void accept(llvm::StringRef name, mlir::Attribute attribute, bool &value) {
    if (const auto truth = llvm::dyn_cast<mlir::BoolAttr>(attribute))
      value = truth.getValue();
    else
      refuse(name);
  }
  template <Word T> void accept(llvm::StringRef name, mlir::Attribute attribute, T &value) {
    std::uint64_t index = 0;
    accept(name, attribute, index);
    if (problem.empty() && index >= Words<T>::all().size())
      problem = ("field `" + name + "` is out of range").str();
    value = static_cast<T>(index);
  }
  void accept(llvm::StringRef name, mlir::Attribute attribute, double &value) {
    const auto number = llvm::dyn_cast<mlir::FloatAttr>(attribute);
    if (!number || !number.getType().isF64())
      return refuse(name);
    value = number.getValueAsDouble();
  }
  void accept(llvm::StringRef name, mlir::Attribute attribute, std::string &value) {
    if (const auto string = llvm::dyn_cast<mlir::StringAttr>(attribute))
      value = string.str();
    else
      refuse(name);
  }
  template <Record T> void accept(llvm::StringRef, mlir::Attribute attribute, T &value) {
    DistributeFields inner(attribute);
    if (inner.problem.empty())
      visitFields(inner, value);
    problem = inner.problem;
  }

  mlir::DictionaryAttr dictionary;
  std::string problem;
};

template <typename T> mlir::Attribute toAttribute(mlir::MLIRContext *context, const T &value) {
  CollectFields fields(context);
  visitFields(fields, const_cast<T &>(value)); // a visitor that does not read leaves it as it is
  return fields.take();
}

template <typename T>
mlir::LogicalResult fromAttribute(T &value, mlir::Attribute attribute,
                                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError) {
  DistributeFields fields(attribute);
  if (fields.whyNot().empty())
    visitFields(fields, value);
  if (fields.whyNot().empty())
    return mlir::success();
  if (emitError)
    emitError() << fields.whyNot();
  return mlir::failure();
}

class HashFields {
public:
  static constexpr bool kReads = false;
  template <typename T> void named(llvm::StringRef, T &value) { add(value); }
  template <typename T> void leading(llvm::StringRef, T &value) { add(value); }
  template <typename T> void hidden(llvm::StringRef, T &value) { add(value); }
  template <typename T> void record(llvm::StringRef, T &value) { add(value); }
  template <typename T> void optional(llvm::StringRef, T &value, const T &, bool = false) {
    add(value);
  }
  void flag(llvm::StringRef, bool &value) { add(value); }
  void symbol(llvm::StringRef, std::string &value) { add(value); }
  template <typename T> void list(llvm::StringRef, std::vector<T> &values, bool = true) {
    for (T &value : values)
      add(value);
  }
  void check(bool, const char *) {}
  mlir::MLIRContext *context() const { return nullptr; }

  llvm::hash_code hash{0};

private:
  template <typename T> void add(T &value) {
    if constexpr (Record<T>)
      visitFields(*this, value);
    else
      hash = llvm::hash_combine(hash, std::hash<T>()(value));
  }
};

template <typename T> llvm::hash_code hashOf(const T &value) {
  HashFields fields;
  visitFields(fields, const_cast<T &>(value));
  return fields.hash;
}

} // namespace vime::ir
