// Suggestions for unknown keys, all from the field table.
#include "compiler/Frontend/UnknownKey.h"

#include <optional>
#include <vector>

#include "compiler/Frontend/FieldTable.h"
#include "runtime/Base/Nearest.h"

namespace vime {

namespace {

// `models.*.layers` → `models.NAME.layers`, or in the user's own section with the user's name.
std::string shown(std::string_view pattern) {
  std::string text(pattern);
  if (const std::size_t star = text.find('*'); star != std::string::npos)
    text.replace(star, 1, "NAME");
  return text;
}

std::optional<Suggestion> foreignName(std::string_view word) {
  for (const FieldSpec &field : fieldTable())
    if (findAlias(sectionOf(field.path), word) == &field)
      return Suggestion{.help = '`' + shown(field.path) + "` is what other systems call `" +
                                std::string(word) + '`',
                        .path = std::string(field.path)};
  return std::nullopt;
}

std::optional<Suggestion> writtenWithDots(std::string_view section, std::string_view word) {
  const std::string path = join(section, word);
  if (word.find('.') == std::string_view::npos || !findField(path))
    return std::nullopt;
  return Suggestion{.help = "sections nest: write `" + std::string(word.substr(0, word.find('.'))) +
                            ": {…}`",
                    .path = path};
}

// The sections that do have the word, or "".
std::string otherSections(std::string_view section, std::string_view word) {
  std::string sections;
  for (const FieldSpec &field : fieldTable())
    if (field.key() == word && !matches(sectionOf(field.path), section))
      sections += (sections.empty() ? "" : " or ") +
                  (sectionOf(field.path).empty() ? "the top level"
                                                 : '`' + shown(sectionOf(field.path)) + '`');
  return sections;
}

// The most similar key of any section, as help, or "".
std::string similarElsewhere(std::string_view word) {
  std::vector<std::string_view> keys;
  for (const FieldSpec &field : fieldTable())
    if (!field.isLater() && field.key() != "*")
      keys.push_back(field.key());
  const auto near = nearest(word, keys);
  for (const FieldSpec &field : fieldTable())
    if (near && !field.isLater() && field.key() == *near)
      return "a similar key exists elsewhere: `" + shown(field.path) + '`';
  return {};
}

} // namespace

Suggestion suggestionFor(std::string_view section, std::string_view word) {
  if (auto dotted = writtenWithDots(section, word))
    return *dotted;
  if (auto foreign = foreignName(word))
    return *foreign;
  Suggestion suggestion;
  if (const auto near = nearest(word, keysOf(section))) {
    suggestion.help = "a similar key exists: `" + std::string(*near) + '`';
    suggestion.path = join(section, *near);
  }
  if (const std::string sections = otherSections(section, word); !sections.empty())
    suggestion.help +=
        (suggestion.help.empty() ? "`" : "\n`") + std::string(word) + "` belongs in " + sections;
  if (suggestion.help.empty())
    suggestion.help = similarElsewhere(word);
  return suggestion;
}

} // namespace vime
