// Finding rows of the field table by path, section and foreign name.
#include <algorithm>

#include "compiler/Frontend/FieldTable.h"

namespace vime {

bool FieldSpec::isOf(std::string_view modelFamily) const {
  for (std::string_view rest = family; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == modelFamily)
      return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return family.empty();
}

bool has(const Job &job, Presence presence) {
  switch (presence) {
  case Presence::Always:
    break;
  case Presence::Text:
    return !hasRounds(job);
  case Presence::Rounds:
    return hasRounds(job);
  case Presence::Reference:
    return hasReference(job);
  case Presence::Prompts:
    return hasRounds(job) && !job.evaluation.prompts.value.empty();
  }
  return true;
}

namespace {

constexpr std::string_view kModels = "models.";

char aliasLetter(char letter) { return letter == '_' ? '-' : letter; }

std::string_view withoutDashes(std::string_view word) {
  return word.starts_with("--") ? word.substr(2) : word;
}

// The first component of a path, which is cut off it.
std::string_view takeComponent(std::string_view &path) {
  const std::size_t dot = path.find('.');
  const std::string_view component = path.substr(0, dot);
  path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  return component;
}

} // namespace

std::string_view sectionOf(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::string join(std::string_view section, std::string_view key) {
  return section.empty() ? std::string(key) : std::string(section) + '.' + std::string(key);
}

bool matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty() != path.empty() ||
      std::count(pattern.begin(), pattern.end(), '.') != std::count(path.begin(), path.end(), '.'))
    return false;
  while (!pattern.empty()) {
    const std::string_view wanted = takeComponent(pattern), given = takeComponent(path);
    if (wanted != given && wanted != "*")
      return false;
  }
  return true;
}

std::string_view modelNameIn(std::string_view path) {
  if (!path.starts_with(kModels))
    return {};
  path.remove_prefix(kModels.size());
  return takeComponent(path);
}

const FieldSpec *findField(std::string_view path) {
  for (const FieldSpec &field : fieldTable())
    if (matches(field.path, path))
      return &field;
  return nullptr;
}

bool sameAlias(std::string_view alias, std::string_view word) {
  word = withoutDashes(word);
  return std::equal(alias.begin(), alias.end(), word.begin(), word.end(),
                    [](char left, char right) { return aliasLetter(left) == aliasLetter(right); });
}

const FieldSpec *findAlias(std::string_view section, std::string_view word) {
  for (const FieldSpec &field : fieldTable()) {
    if (field.aliases.empty() || !matches(sectionOf(field.path), section))
      continue;
    std::string_view rest = field.aliases;
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      if (sameAlias(rest.substr(0, space), word))
        return &field;
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
  }
  return nullptr;
}

std::vector<std::string_view> keysOf(std::string_view section) {
  std::vector<std::string_view> keys;
  for (const FieldSpec &field : fieldTable())
    if (!field.isLater() && field.key() != "*" && matches(sectionOf(field.path), section))
      keys.push_back(field.key());
  return keys;
}

} // namespace vime
