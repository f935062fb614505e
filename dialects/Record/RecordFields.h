// RecordFields: one description of a struct's fields; its text, attributes and hash follow from
// that.
//
//   template <typename Fields> void visitFields(Fields &fields, plan::LocalStage &stage) {
//     fields.named("model", stage.model);
//     fields.named("stage", stage.stage);
//   }                                          // plan.stage model 0 stage 3
//
// Written beside the dialect that holds the struct, found by its argument. A visitor offers:
//
//   named(name, value)            `name value`: a whole or real number, a text, a word of an enum
//   list(name, values, show)      `name [a, b]`; an empty list only if it is to be shown
//   flag(name, value)             `name` or nothing
//   optional(name, value, absent, show)
//                                 nothing when the value is `absent`, unless it is to be shown
//   leading(name, value)          the value alone
//   symbol(name, text)            `@text`
//   record(name, struct)          `name` and the struct's own fields
//   hidden(name, number)          what the op's name says already: in attributes only
//   check(holds, message)         a condition on what was read
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mlir/IR/OpImplementation.h"
#include "runtime/Plan/Names.h"

namespace vime::ir {

template <typename T>
concept Whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <typename T>
concept Word = std::is_enum_v<T>;

/// What a list may hold beside whole numbers and texts: a struct with fields of its own, in
/// parentheses.
template <typename T>
concept Record = std::is_class_v<T> && !std::is_same_v<T, std::string>;

/// The words of an enumeration. Those of plans have them in runtime/Plan/Names.h; others specialise
/// this.
template <Word Enum> struct Words {
  static auto all() { return plan::namesOf<Enum>(); }
};

} // namespace vime::ir
