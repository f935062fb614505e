// Suggestions for unknown keys, all from the field table.
#include "compiler/Frontend/UnknownKey.h"

#include <optional>
#include <vector>

#include "compiler/Diagnostics/Nearest.h"
#include "compiler/Frontend/FieldTable.h"

namespace vime {

namespace {

// `models.*.layers` → `models.NAME.layers`, or in the user's own section with the user's name.
std::string shown(std::string_view pattern) {
  std::string text(pattern);
  if (const std::size_t star = text.find('*'); star != std::string::npos)
    text.replace(star, 1, "NAME");
  return text;
}

std::optional<std::string> foreignName(std::string_view word) {
  for (const FieldSpec &field : fieldTable())
    if (findAlias(sectionOf(field.path), word) == &field)
      return '`' + shown(field.path) + "` is what other systems call `" + std::string(word) + '`';
  return std::nullopt;
}

std::optional<std::string> otherSection(std::string_view section, std::string_view word) {
  std::string sections;
  for (const FieldSpec &field : fieldTable())
    if (field.key() == word && !matches(sectionOf(field.path), section))
      sections += (sections.empty() ? "" : " or ") +
                  (sectionOf(field.path).empty() ? "the top level" : '`' + shown(sectionOf(field.path)) + '`');
  if (sections.empty())
    return std::nullopt;
  return '`' + std::string(word) + "` belongs in " + sections;
}

std::optional<std::string> writtenWithDots(std::string_view section, std::string_view word) {
  const FieldSpec *field = findField(join(section, word));
  if (word.find('.') == std::string_view::npos || !field)
    return std::nullopt;
  return "sections nest: write `" + std::string(word.substr(0, word.find('.'))) + ": {…}`";
}

std::optional<std::string> similarKey(std::string_view section, std::string_view word) {
  if (const auto near = nearest(word, keysOf(section)))
    return "a similar key exists: `" + std::string(*near) + '`';
  std::vector<std::string_view> keys;
  for (const FieldSpec &field : fieldTable())
    if (!field.isLater() && field.key() != "*")
      keys.push_back(field.key());
  const auto near = nearest(word, keys);
  if (!near)
    return std::nullopt;
  for (const FieldSpec &field : fieldTable())
    if (!field.isLater() && field.key() == *near)
      return "a similar key exists elsewhere: `" + shown(field.path) + '`';
  return std::nullopt;
}

} // namespace

std::string helpForUnknownKey(std::string_view section, std::string_view word) {
  if (const auto dotted = writtenWithDots(section, word))
    return *dotted;
  if (const auto foreign = foreignName(word))
    return *foreign;
  const auto belongs = otherSection(section, word);
  const auto near = nearest(word, keysOf(section));
  if (belongs && near)
    return *belongs + "\na similar key exists here: `" + std::string(*near) + '`';
  if (belongs)
    return *belongs;
  return similarKey(section, word).value_or("");
}

} // namespace vime
