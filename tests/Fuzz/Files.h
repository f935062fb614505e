// Files: inputs that lie in folders.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vime::fuzz {

/// Ends the program if it cannot be read.
std::string contentsOf(const std::filesystem::path &path);

/// Of a folder and those in it, sorted; only those that end like this.
std::vector<std::filesystem::path> filesIn(const std::filesystem::path &folder,
                                           std::string_view ending = "");

} // namespace vime::fuzz
