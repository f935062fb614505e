// Numbers in cells, and cells in messages.
#include "schedules/CellText.h"

#include <charconv>

namespace vime {

namespace {

std::string quoted(std::string_view cell) {
  constexpr std::size_t kShown = 40; // enough to find the cell, whatever the file holds
  std::string text = "`";
  for (const char c : cell.substr(0, kShown))
    text += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
  return text + (cell.size() > kShown ? "…`" : "`");
}

} // namespace

std::optional<int> takeNumber(std::string_view &text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.front() == '-')
    return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

TableProblem cellProblem(std::string_view cell, std::string message, std::string help) {
  return {{1, 1, static_cast<int>(cell.size())}, quoted(cell) + message, std::move(help)};
}

} // namespace vime
