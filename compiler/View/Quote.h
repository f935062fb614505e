// Quote: texts of a plan between double quotes, as JSON writes them.
#pragma once

#include <string>
#include <string_view>

namespace vime {

std::string quote(std::string_view text);

} // namespace vime
