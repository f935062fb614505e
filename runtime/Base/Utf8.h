// Utf8: where bytes are text, and text made of bytes that are not.
//
//   utf8Length("\xC3\xA9!")        // 2
//   utf8Length("\xA9!")            // 0: no character begins here
//   withReplacements("a\xA9z")     // "a\uFFFDz"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vime {

/// Bytes of the character that `text` begins with; 0 where it begins with none (Unicode 15, table
/// 3-7).
std::size_t utf8Length(std::string_view text);

/// Each byte that is part of no character becomes U+FFFD.
std::string withReplacements(std::string_view text);

} // namespace vime
