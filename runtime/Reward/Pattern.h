// Pattern: a regular expression that takes time linear in the text, whatever both are (RE2).
//
//   StatusOr<Pattern> pattern = Pattern::make("<think>.*</think>");
//   pattern->isIn(response)
//
// `.` matches a line's end too; `(?-s)` undoes it. Back references and look-around, which no
// automaton has, are refused.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/Base/Status.h"

namespace re2 {
class RE2;
}

namespace vime {

class Pattern {
public:
  /// InvalidInput: what is wrong with it.
  static StatusOr<Pattern> make(const std::string &text);
  /// Text is UTF-8.
  bool isIn(std::string_view text) const;
  bool matchesAll(std::string_view text) const;

private:
  explicit Pattern(std::shared_ptr<const re2::RE2> expression)
      : expression(std::move(expression)) {}
  std::shared_ptr<const re2::RE2> expression;
};

} // namespace vime
