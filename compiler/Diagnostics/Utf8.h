// UTF-8, one character at a time: where it ends, whether it is legal, how wide a terminal draws it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vime {

struct Character {
  char32_t code = 0;     // 0xFFFD where the bytes are no character
  std::size_t bytes = 1; // how many the text has here; 1 for an illegal byte
  bool legal = true;
};

/// The character that starts at `text[0]`; `text` is not empty. Overlong forms and surrogates are
/// illegal.
Character characterAt(std::string_view text);

/// Columns of a terminal: 0 for combining marks, 2 for East Asian wide characters and emoji,
/// else 1.
int displayWidth(char32_t code);

/// Number of characters; an illegal byte counts as one.
std::size_t characterCount(std::string_view text);

/// C0 and C1 controls, DEL, bidirectional overrides: what must never reach a terminal from a user's
/// file.
bool isControl(char32_t code);

/// `text` with its controls and illegal bytes replaced by U+FFFD; `\n` and `\t` become a space.
std::string printable(std::string_view text);

} // namespace vime
