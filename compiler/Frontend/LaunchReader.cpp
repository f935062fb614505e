#include "compiler/Frontend/LaunchReader.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/Frontend/Numbers.h"

namespace vime {

std::optional<std::string> LaunchReader::take(const std::string &flag) {
  const LaunchFlag *found = launch.find(flag);
  if (!found)
    return std::nullopt;
  used.insert(flag);
  return found->values.empty() ? "" : found->values.front();
}

Count LaunchReader::count(const std::string &flag) {
  const auto text = take(flag);
  if (!text)
    return std::nullopt;
  const Count number = wholeNumber(*text);
  if (!number)
    leaveOut(flag, fmt::format("`{}` is no number", *text));
  return number;
}

std::uint64_t LaunchReader::at(std::string_view flag) const {
  constexpr std::uint64_t kMost = 1 << 20; // products of a few stay numbers
  const LaunchFlag *found = launch.find(flag);
  const Count number =
      found && !found->values.empty() ? wholeNumber(found->values.front()) : std::nullopt;
  return std::clamp<std::uint64_t>(number.value_or(1), 1, kMost);
}

void LaunchReader::leaveOut(std::string_view flag, std::string_view why) {
  notes.push_back(fmt::format("`--{}` is left out: {}", flag, why));
}

} // namespace vime
