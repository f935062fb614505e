#include "compiler/Frontend/Settings.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/FieldTable.h"

namespace vime {

namespace {

constexpr int kDeepest = 16; // as a file may nest

struct Setting {
  std::string path;
  Node value;
  SourceSpan place;
};

void moveTo(Node &node, const SourceSpan &place) {
  node.span = place;
  for (Entry &entry : node.entries) {
    entry.keySpan = place;
    moveTo(entry.value, place);
  }
  for (Node &item : node.items)
    moveTo(item, place);
}

// The key that a word in this section means, whatever system's word it is.
std::string canonicalKey(std::string_view section, std::string_view word) {
  if (findField(join(section, word)))
    return std::string(word);
  const FieldSpec *field = findAlias(section, word);
  return std::string(field ? field->key() : word);
}

std::optional<Setting> parse(const std::string &text, Findings &findings) {
  const std::size_t equals = text.find('=');
  Setting setting{.place = {.file = "--set " + text}};
  const std::size_t before = findings.size();
  const std::string value = text.substr(equals + 1);
  std::optional<Node> node;
  if (checkText(value, setting.place.file, findings))
    node = readDocument(value, setting.place.file, findings);
  for (std::size_t index = before; index < findings.size(); ++index)
    findings.all()[index].span = setting.place;
  if (!node)
    return std::nullopt;
  setting.value = std::move(*node);
  moveTo(setting.value, setting.place);
  std::string_view rest = std::string_view(text).substr(0, equals);
  while (!rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    setting.path = join(setting.path, canonicalKey(setting.path, rest.substr(0, dot)));
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  return setting;
}

Entry &entryFor(Node &section, const std::string &path, const std::string &key,
                const SourceSpan &place) {
  for (Entry &entry : section.entries)
    if (canonicalKey(path, entry.key) == key)
      return entry;
  section.entries.push_back({.key = key, .keySpan = place});
  Node &value = section.entries.back().value;
  value.kind = Node::Kind::Mapping;
  value.span = place;
  return section.entries.back();
}

void apply(Node &root, Setting setting) {
  Node *section = &root;
  std::string path;
  for (std::string_view rest = setting.path;;) {
    const std::size_t dot = rest.find('.');
    const std::string key(rest.substr(0, dot));
    Entry &entry = entryFor(*section, path, key, setting.place);
    if (dot == rest.npos) {
      entry.key = key;
      entry.keySpan = setting.place;
      entry.value = std::move(setting.value);
      return;
    }
    if (entry.value.kind != Node::Kind::Mapping)
      return; // the file's own error, which is reported
    path = join(path, key);
    section = &entry.value;
    rest.remove_prefix(dot + 1);
  }
}

} // namespace

bool isSetting(std::string_view text) {
  const std::string_view field = text.substr(0, text.find('='));
  return field.size() < text.size() && !field.empty() && !field.starts_with('.') &&
         !field.ends_with('.') && field.find("..") == field.npos &&
         std::count(field.begin(), field.end(), '.') < kDeepest &&
         std::none_of(
             field.begin(), field.end(),
             [](char letter) {
               return letter == ' ' || isControl(static_cast<unsigned char>(letter));
             });
}

void applySettings(Node &root, std::span<const std::string> settings, Findings &findings) {
  std::map<std::string, SourceSpan> places;
  for (const std::string &text : settings) {
    std::optional<Setting> setting = parse(text, findings);
    if (!setting)
      continue;
    const auto [first, isNew] = places.emplace(setting->path, setting->place);
    if (isNew)
      apply(root, std::move(*setting));
    else
      findings
          .error(Rule::J, number(JobCode::DuplicateKey),
                 '`' + printable(setting->path) + "` is set twice")
          .at(setting->place)
          .note("the first one is `" + printable(first->second.file) + '`')
          .withHelp("keep one of them");
  }
}

} // namespace vime
