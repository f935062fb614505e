// ViewerFiles: what stands in Viewer/, put into the program when it is built.
#pragma once

#include <string_view>

namespace vime::viewer {

std::string_view page();
std::string_view style();
std::string_view script(); // all of them, one behind the other

} // namespace vime::viewer
