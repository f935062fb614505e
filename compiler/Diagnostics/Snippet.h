// Snippet: one source line as a terminal shows it, and where the underline stands below it.
//
//   Snippet shown = snippet("\tranks: 4", /*column=*/9, /*length=*/1);
//   shown.text       // "    ranks: 4"
//   shown.underline  // 11, one wide
//
// Tabs become four spaces, what a terminal would obey becomes U+FFFD, and a line that is too wide
// is cut to the part around the underline.
#pragma once

#include <string>
#include <string_view>

namespace vime {

struct Snippet {
  std::string text;
  int underline = 0; // columns before it
  int width = 1;     // of the underline, at least 1
};

/// Column and length count characters, from 1. A column behind the line's end stands right behind
/// it.
Snippet snippet(std::string_view line, int column, int length);

} // namespace vime
