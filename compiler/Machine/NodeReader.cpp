#include "compiler/Machine/NodeReader.h"

#include <algorithm>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Machine/FigureText.h"
#include "runtime/Base/Nearest.h"

namespace vime {

namespace {

std::string listed(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words)
    text += (text.empty() ? "`" : ", `") + std::string(word) + '`';
  return text;
}

} // namespace

std::string inBackticks(std::string_view text) { return '`' + printable(text) + '`'; }

const Entry *findEntry(const Node &mapping, std::string_view key) {
  for (const Entry &entry : mapping.entries)
    if (entry.key == key)
      return &entry;
  return nullptr;
}

Finding &NodeReader::error(JobCode code, std::string message, const SourceSpan &span,
                           std::string label) {
  return findings.error(Rule::J, vime::number(code), std::move(message)).at(span, std::move(label));
}

void NodeReader::missing(const std::string &path, const SourceSpan &span, std::string help) {
  error(JobCode::MissingKey, inBackticks(path) + " is missing", span).withHelp(std::move(help));
}

bool NodeReader::isKnown(const std::string &where, const Entry &entry,
                         const std::vector<std::string_view> &keys) {
  if (std::find(keys.begin(), keys.end(), entry.key) != keys.end())
    return true;
  const auto near = nearest(entry.key, keys);
  error(JobCode::UnknownKey, "unknown key " + inBackticks(entry.key) + " in " + where,
        entry.keySpan, "not a key of " + where)
      .withHelp(near ? "a similar key exists: `" + std::string(*near) + '`'
                     : "the keys are " + listed(keys));
  return false;
}

bool NodeReader::isMapping(const std::string &path, const Entry &entry) {
  if (entry.value.kind == Node::Kind::Mapping)
    return true;
  if (!entry.value.broken)
    error(JobCode::NotASection,
          inBackticks(path) +
              (entry.value.kind == Node::Kind::Empty ? " is empty" : " is no mapping"),
          entry.value.span, "expected keys and values");
  return false;
}

const std::string *NodeReader::scalar(const std::string &path, const Entry &entry) {
  if (entry.value.broken)
    return nullptr;
  if (entry.value.kind == Node::Kind::Scalar)
    return &entry.value.text;
  error(JobCode::WrongType,
        inBackticks(path) +
            (entry.value.kind == Node::Kind::Empty ? " has no value" : " takes one value"),
        entry.value.span);
  return nullptr;
}

std::string NodeReader::source(const std::string &path, const Entry &entry) {
  const std::string *text = scalar(path, entry);
  if (text && text->find_first_not_of(' ') == text->npos)
    error(JobCode::MissingKey, inBackticks(path) + " is empty", entry.value.span,
          "where is this from?")
        .withHelp("name a data sheet, a measurement, or say that it is assumed");
  return text ? *text : std::string();
}

void NodeReader::report(const std::string &path, const Entry &entry, const ValueProblem &problem) {
  error(problem.code, inBackticks(path) + ' ' + problem.message, entry.value.span, problem.label)
      .withHelp(problem.help);
}

std::optional<double> NodeReader::number(const std::string &path, const Entry &entry,
                                         FigureKind kind) {
  const std::string *text = scalar(path, entry);
  if (!text)
    return std::nullopt;
  const auto parsed = parseFigure(kind, *text);
  if (const auto *number = std::get_if<double>(&parsed))
    return *number;
  report(path, entry, std::get<ValueProblem>(parsed));
  return std::nullopt;
}

std::optional<Value> NodeReader::value(const std::string &path, const Entry &entry,
                                       const FieldSpec &field) {
  const std::string *text = scalar(path, entry);
  if (!text)
    return std::nullopt;
  const auto parsed = parseValue(field, *text);
  if (const auto *value = std::get_if<Value>(&parsed))
    return *value;
  report(path, entry, std::get<ValueProblem>(parsed));
  return std::nullopt;
}

std::optional<std::size_t> NodeReader::word(const std::string &path, const Entry &entry,
                                            std::span<const std::string_view> words) {
  const std::string *text = scalar(path, entry);
  if (!text)
    return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), *text);
  if (found != words.end())
    return static_cast<std::size_t>(found - words.begin());
  const auto near = nearest(*text, words);
  error(JobCode::UnknownWord, inBackticks(path) + " cannot be " + inBackticks(*text),
        entry.value.span, (words.size() == 1 ? "only " : "one of ") + listed(words))
      .withHelp(near ? "a similar word exists: `" + std::string(*near) + '`' : std::string());
  return std::nullopt;
}

} // namespace vime
