#include "compiler/Frontend/LaunchJob.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace vime {
namespace {

constexpr std::string_view kModel = "policy";

std::string pathIn(const FieldSpec &field) {
  std::string path(field.path);
  if (const std::size_t star = path.find('*'); star != path.npos)
    path.replace(star, 1, kModel);
  return path;
}

/// In quotes where YAML would read something else.
std::string inYaml(const FieldSpec &field, const std::string &text) {
  const bool isText = field.type == FieldType::Path || field.type == FieldType::Text;
  const bool isPlain = std::ranges::all_of(text, [](char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z') || letter == '_' || letter == '.' || letter == '/' ||
           letter == '-';
  });
  if (!isText || (isPlain && !text.empty()))
    return text;
  std::string quoted = "\"";
  for (const char letter : text)
    quoted += letter == '"' || letter == '\\' ? std::string("\\") + letter : std::string(1, letter);
  return quoted + '"';
}

/// Our word for another system's.
std::string wordOf(const FieldSpec &field, const std::string &word) {
  const std::string_view pairs = field.otherWords;
  const std::size_t at = (' ' + std::string(pairs)).find(' ' + word + '=');
  if (word.empty() || at == std::string::npos)
    return word;
  const std::string_view behind = pairs.substr(at + word.size() + 1);
  return std::string(behind.substr(0, behind.find(' ')));
}

} // namespace

std::string LaunchJob::setFlag(const FieldSpec &field, const std::vector<std::string> &words) {
  if (words.empty())
    return "it has no value";
  std::string text = words.front();
  if (field.type == FieldType::Count && !field.unit.empty())
    text += ' ' + std::string(field.unit);
  else if (field.type == FieldType::Bytes)
    text += 'B';
  else if (field.type == FieldType::Tokens)
    text = fmt::format("[{}]", fmt::join(words, ", "));
  else if (field.type == FieldType::Word)
    text = wordOf(field, text);
  const auto parsed = parseValue(field, text);
  if (const auto *problem = std::get_if<ValueProblem>(&parsed))
    return fmt::format("`{}` {}", pathIn(field), problem->message);
  set(pathIn(field), text);
  return {};
}

std::string LaunchJob::get(const std::string &path) const {
  const auto found = values.find(path);
  return found == values.end() ? std::string() : found->second;
}

std::string LaunchJob::text() const {
  std::string text = "version: 1\n";
  std::vector<std::string> open; // sections around the last line
  for (const FieldSpec &field : fieldTable()) {
    const std::string path = pathIn(field);
    const auto found = values.find(path);
    if (found == values.end())
      continue;
    std::size_t depth = 0;
    for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
      const std::string section = path.substr(0, dot);
      if (depth >= open.size() || open[depth] != section) {
        open.resize(depth);
        open.push_back(section);
        text += fmt::format("{:{}}{}:\n", "", 2 * depth, section.substr(section.rfind('.') + 1));
      }
      ++depth;
    }
    open.resize(depth);
    text += fmt::format("{:{}}{}: {}\n", "", 2 * depth, path.substr(path.rfind('.') + 1),
                        inYaml(field, found->second));
  }
  return text;
}

} // namespace vime
