#include "runtime/Reward/CommandWords.h"

#include <fmt/format.h>

namespace vime {
namespace {

constexpr std::string_view kSpace = " \t\r\n", kShell = "|&;<>()$`*?[]#~!{}";

Status refuse(std::string_view command, std::string what) {
  return {StatusCode::InvalidInput, fmt::format("command `{}` {}", command, what)};
}

} // namespace

StatusOr<std::vector<std::string>> splitCommand(std::string_view command) {
  std::vector<std::string> words;
  bool inWord = false;
  char quote = '\0';
  const auto add = [&](char byte) {
    if (!inWord)
      words.emplace_back();
    inWord = true;
    words.back() += byte;
  };
  for (std::size_t at = 0; at < command.size(); ++at) {
    const char byte = command[at];
    if (byte == '\0')
      return refuse(command.substr(0, at), "has a zero byte behind it");
    if (byte == '\\' && quote != '\'') {
      if (++at == command.size())
        return refuse(command, "ends with a backslash");
      add(command[at]);
    } else if (quote != '\0') {
      if (byte == quote)
        quote = '\0';
      else
        add(byte);
    } else if (byte == '\'' || byte == '"') {
      quote = byte;
      if (!inWord)
        words.emplace_back(); // `''` is a word
      inWord = true;
    } else if (kSpace.find(byte) != kSpace.npos) {
      inWord = false;
    } else if (kShell.find(byte) != kShell.npos) {
      return refuse(command, fmt::format("has `{}`, and no shell that would act upon it\n"
                                         "help: quote it, or put the command into a script",
                                         byte));
    } else {
      add(byte);
    }
  }
  if (quote != '\0')
    return refuse(command, fmt::format("has a {} that does not end", quote));
  if (words.empty() || words.front().empty())
    return refuse(command, "names no program");
  return words;
}

} // namespace vime
