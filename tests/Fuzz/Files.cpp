#include "tests/Fuzz/Files.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/Fuzz/Target.h"

namespace vime::fuzz {

std::string contentsOf(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  must(file.is_open(), "`" + path.string() + "` can be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> filesIn(const std::filesystem::path &folder,
                                           std::string_view ending) {
  std::vector<std::filesystem::path> files;
  std::error_code absent; // nothing was kept yet
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder, absent))
    if (entry.is_regular_file() && entry.path().native().ends_with(ending))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace vime::fuzz
