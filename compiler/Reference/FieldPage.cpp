#include "compiler/Reference/FieldPage.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/Reference/FieldWords.h"
#include "runtime/Base/Nearest.h"

namespace vime {

namespace {

std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> all;
  while (!list.empty()) {
    const std::size_t space = std::min(list.find(' '), list.size());
    if (space > 0)
      all.emplace_back(list.substr(0, space));
    list.remove_prefix(std::min(space + 1, list.size()));
  }
  return all;
}

// The rows right below a section, by whether they exist today.
std::vector<const FieldSpec *> rowsOf(const FieldSpec &section, bool later) {
  std::vector<const FieldSpec *> rows;
  for (const FieldSpec &field : fieldTable())
    if (sectionOf(field.path) == section.path && field.isLater() == later)
      rows.push_back(&field);
  return rows;
}

class Page {
public:
  explicit Page(const FieldSpec &field) : field(field) {
    text = fmt::format("{}: {}\n", shownPath(field), field.sentence);
  }

  std::string write() {
    if (field.type == FieldType::Section)
      keys();
    else
      value();
    later();
    return std::move(text);
  }

private:
  void row(std::string_view name, std::string_view words) {
    if (!words.empty())
      text += fmt::format("  {:<9} {}\n", name, words);
  }

  void value() {
    text += '\n';
    row("type", kindOf(field));
    row("range", rangeOf(field));
    row("default", originOf(field));
    row("phase", field.phase);
    if (!field.family.empty())
      row("only", fmt::format("models of family `{}`", fmt::join(words(field.family), "`, `")));
    if (!field.aliases.empty())
      row("also", fmt::format("`{}`", fmt::join(words(field.aliases), "`, `")));
    if (!field.otherWords.empty())
      row("elsewhere", fmt::format("`{}`", fmt::join(words(field.otherWords), "`, `")));
    row("example", exampleOf(field));
    if (!field.laterWords.empty())
      row("not yet", fmt::format("`{}`", fmt::join(field.laterWords, "`, `")));
  }

  void keys() {
    text += '\n';
    for (const FieldSpec *key : rowsOf(field, false))
      text += fmt::format("  {:<16} {}\n", key->key() == "*" ? "NAME" : key->key(), key->sentence);
  }

  void later() {
    if (const auto rows = rowsOf(field, true); !rows.empty()) {
      text += "\n  not there yet:\n";
      for (const FieldSpec *key : rows)
        text += fmt::format("  {:<16} {}\n", key->key(), key->later);
    }
  }

  const FieldSpec &field;
  std::string text;
};

} // namespace

const FieldSpec *lookUpField(std::string_view word) {
  if (const FieldSpec *field = findField(word))
    return field;
  for (const FieldSpec &field : fieldTable())
    if (findAlias(sectionOf(field.path), word) == &field)
      return &field;
  return nullptr;
}

std::optional<std::string> nearestField(std::string_view word) {
  std::vector<std::string> paths, keys;
  for (const FieldSpec &field : fieldTable()) {
    paths.push_back(shownPath(field));
    keys.emplace_back(field.key());
  }
  // A path by its spelling, a word without a section by any key's.
  const std::vector<std::string> &candidates = word.find('.') == word.npos ? keys : paths;
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  const auto near = nearest(word, views);
  if (!near)
    return std::nullopt;
  const auto at = std::find(candidates.begin(), candidates.end(), *near) - candidates.begin();
  return paths[static_cast<std::size_t>(at)];
}

std::string fieldPage(const FieldSpec &field) {
  if (field.isLater())
    return fmt::format("{}: not there yet: {}\n", shownPath(field), field.later);
  return Page(field).write();
}

std::string fieldJson(const FieldSpec &field) {
  using Json = nlohmann::ordered_json;
  Json json = {{"path", shownPath(field)}, {"sentence", field.sentence}};
  if (field.isLater())
    json = {{"path", shownPath(field)}, {"later", field.later}};
  if (!field.isLater() && field.type != FieldType::Section)
    json.update(
        {{"type", kindOf(field)},
         {"range", rangeOf(field)},
         {"default", field.fallback},
         {"derived_from", field.derivedFrom},
         {"required", field.fallback.empty() && field.derivedFrom.empty() && !field.optional},
         {"phase", field.phase},
         {"families", words(field.family)},
         {"aliases", words(field.aliases)},
         {"example", exampleOf(field)}});
  Json keys = Json::array();
  for (const FieldSpec *key : rowsOf(field, false))
    keys.push_back(shownPath(*key));
  if (!keys.empty())
    json["keys"] = keys;
  return json.dump(2);
}

} // namespace vime
