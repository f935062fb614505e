// TemporaryDirectory: an empty directory of a test's own, gone when the test ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace vime {

class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "vime-test-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      std::abort();
    root = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  std::string path(const std::string &name) const { return (root / name).string(); }

private:
  std::filesystem::path root;
};

} // namespace vime
