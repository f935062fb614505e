// UnknownKey: what a key that does not exist was probably meant to be.
#pragma once

#include <string>
#include <string_view>

namespace vime {

struct Suggestion {
  std::string help; // lines, or nothing
  std::string path; // what was probably meant, if one thing; then its absence is no second error
};

/// For a key `word` that `section` does not have: what other systems' word it is, in which section
/// it exists, and the nearest spelling.
Suggestion suggestionFor(std::string_view section, std::string_view word);

} // namespace vime
