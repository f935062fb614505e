// SourceCache: the texts that findings point into, by the name the user gave them.
//
//   SourceCache sources;
//   sources.add("job.yaml", text);
//   sources.line("job.yaml", 14) // `  actor: {model: policy}`, without its line break
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vime {

class SourceCache {
public:
  /// Keeps a copy; a second text of the same name replaces the first.
  void add(const std::string &file, std::string text);

  /// Reads the file if it is not known yet; false if it cannot be read. Only for files that cannot
  /// have changed since they were judged: the renderer shows what stands there now.
  bool load(const std::string &file);

  /// The text of a file, or null.
  const std::string *source(const std::string &file) const;

  /// Line `number`, counted from 1, without line break and byte order mark; nothing if there is no
  /// such line.
  std::optional<std::string_view> line(const std::string &file, int number) const;

private:
  struct Entry {
    std::string text;
    std::vector<std::size_t> starts; // of each line
  };
  std::map<std::string, Entry> entries;
};

} // namespace vime
