#include "compiler/View/TextScanner.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace vime {
namespace {

bool isBlank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

/// The word of `line` at or behind `at`: where it starts and ends; empty at the end of the line.
std::pair<std::size_t, std::size_t> wordAt(std::string_view line, std::size_t at) {
  while (at < line.size() && isBlank(line[at]))
    ++at;
  std::size_t end = at;
  if (end < line.size() && line[end] == '"') {
    for (++end; end < line.size() && line[end] != '"'; ++end)
      end += line[end] == '\\' ? 1 : 0;
    end = std::min(end + 1, line.size());
  }
  while (end < line.size() && !isBlank(line[end]))
    ++end;
  return line.substr(at, end - at) == "#" ? std::pair(at, at) : std::pair(at, end);
}

/// Columns are characters: continuation bytes of UTF-8 count for nothing.
std::size_t columnOf(std::string_view line, std::size_t byte) {
  return 1 + static_cast<std::size_t>(
                 std::count_if(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(byte),
                               [](char letter) { return (letter & 0xC0) != 0x80; }));
}

} // namespace

bool TextScanner::nextLine() {
  while (!failed() && !rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++lineNumber;
    at = start = 0;
    last = {};
    if (!peek().empty())
      return true;
  }
  line = {};
  at = start = 0;
  return false;
}

bool TextScanner::rawLine(std::string_view mark, std::string_view &raw) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view next = rest.substr(0, end);
  // Editors cut blanks off: an empty line's mark may have lost its own.
  const bool isBare = !next.empty() && next == mark.substr(0, next.size());
  if (failed() || (!next.starts_with(mark) && !isBare))
    return false;
  raw = next.substr(std::min(mark.size(), next.size()));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  ++lineNumber;
  return true;
}

std::string_view TextScanner::peek() const {
  const auto [begin, end] = wordAt(line, at);
  return failed() ? std::string_view() : line.substr(begin, end - begin);
}

std::string_view TextScanner::word() {
  const auto [begin, end] = wordAt(line, at);
  start = begin;
  at = end;
  last = failed() ? std::string_view() : line.substr(begin, end - begin);
  return last;
}

void TextScanner::expect(std::string_view wanted) {
  if (word() != wanted)
    fail("expected `" + std::string(wanted) + "`");
}

void TextScanner::expectEnd() {
  if (!word().empty())
    fail("expected the end of the line");
}

void TextScanner::text(std::string &member) {
  const std::string_view quoted = word();
  if (quoted.starts_with('"')) {
    const auto json = nlohmann::json::parse(quoted, nullptr, /*allow_exceptions=*/false);
    if (json.is_string()) {
      member = json.get<std::string>();
      return;
    }
  }
  fail("expected a text in double quotes");
}

void TextScanner::number(double &member) {
  if (!parse(word(), member))
    fail("expected a number");
}

void TextScanner::fail(std::string what) {
  if (failed())
    return;
  constexpr std::size_t kLongest = 60;
  if (what.starts_with("expected"))
    what += last.empty() ? ", found the end of the line"
                         : ", found `" + std::string(last.substr(0, kLongest)) + "`";
  message = std::to_string(lineNumber) + ':' + std::to_string(columnOf(line, start)) + ": " + what;
}

} // namespace vime
