// LayoutText: the layers of each stage as Megatron writes them.
//
//   readLayoutText("Et*3|(tt|)*2tL")  // 3, 2, 2, 1
//
//   layout := item*    item := ("E" | "t" | "L" | "|" | "(" layout ")") ["*" number]
//
// `|` ends a stage, `t` is a layer, `E` the embedding, which begins the first stage, `L` the head,
// which ends the last one. Commas and spaces mean nothing.
#pragma once

#include <string_view>
#include <variant>

#include "compiler/Frontend/Value.h"

namespace vime {

/// Whether a text means to be one: it speaks of layers.
inline bool isLayoutText(std::string_view text) {
  return !text.starts_with('[') && text.find('t') != text.npos;
}

/// The layers of each stage, at least one; or why the text is none.
std::variant<CountList, ValueProblem> readLayoutText(std::string_view text);

} // namespace vime
