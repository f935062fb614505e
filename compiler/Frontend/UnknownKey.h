// UnknownKey: what a key that does not exist was probably meant to be.
#pragma once

#include <string>
#include <string_view>

namespace vime {

/// Help for a key `word` that `section` does not have: what other systems' word it is, in which section it exists, and
/// the nearest spelling; lines, or nothing.
std::string helpForUnknownKey(std::string_view section, std::string_view word);

} // namespace vime
