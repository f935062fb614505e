// SourceCache: texts and where their lines start.
#include "compiler/Diagnostics/SourceCache.h"

#include <fstream>
#include <sstream>
#include <utility>

namespace vime {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

} // namespace

void SourceCache::add(const std::string &file, std::string text) {
  Entry &entry = entries[file];
  entry.text = std::move(text);
  entry.starts = {entry.text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0};
  for (std::size_t at = 0; at < entry.text.size(); ++at)
    if (entry.text[at] == '\n')
      entry.starts.push_back(at + 1);
}

bool SourceCache::load(const std::string &file) {
  if (entries.contains(file))
    return true;
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf()))
    return false;
  add(file, std::move(text).str());
  return true;
}

const std::string *SourceCache::source(const std::string &file) const {
  const auto found = entries.find(file);
  return found == entries.end() ? nullptr : &found->second.text;
}

std::optional<std::string_view> SourceCache::line(const std::string &file, int number) const {
  const auto found = entries.find(file);
  if (found == entries.end() || number < 1 ||
      static_cast<std::size_t>(number) > found->second.starts.size())
    return std::nullopt;
  const Entry &entry = found->second;
  std::string_view rest =
      std::string_view(entry.text).substr(entry.starts[static_cast<std::size_t>(number) - 1]);
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r'))
    rest.remove_suffix(1);
  return rest;
}

} // namespace vime
