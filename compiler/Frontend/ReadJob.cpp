// readJob: a document, section by section along the field table.
#include "compiler/Frontend/ReadJob.h"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/Checkpoint.h"
#include "compiler/Frontend/Document.h"
#include "compiler/Frontend/Draft.h"
#include "compiler/Frontend/LayoutText.h"
#include "compiler/Frontend/OrderFile.h"
#include "compiler/Frontend/PackedText.h"
#include "compiler/Frontend/Settings.h"
#include "compiler/Frontend/UnknownKey.h"
#include "schedules/OrderTable.h"

namespace vime {

namespace {

std::string inBackticks(std::string_view text) { return '`' + printable(text) + '`'; }

class SectionReader {
public:
  explicit SectionReader(Draft &draft) : draft(draft) {}

  void read(const Node &section, const std::string &path) {
    for (const Entry &entry : section.entries) {
      if (path == "models")
        readModel(entry);
      else
        readEntry(path, entry);
    }
  }

private:
  void readModel(const Entry &entry) {
    const FieldSpec &anyModel = *findField("models.NAME");
    const FieldSpec name{.type = FieldType::Name};
    if (std::holds_alternative<ValueProblem>(parseValue(name, entry.key)) ||
        entry.key.find('.') != std::string::npos) {
      draft.error(JobCode::Name, "a model cannot be named " + inBackticks(entry.key), entry.keySpan,
                  "letters, digits, `_` and `-`");
      return draft.spoil("models");
    }
    draft.job.models.push_back({.name = entry.key, .span = entry.keySpan});
    readSection(anyModel, "models." + entry.key, entry);
  }

  void readEntry(const std::string &section, const Entry &entry) {
    const FieldSpec *field =
        entry.key.find('.') == std::string::npos ? findField(join(section, entry.key)) : nullptr;
    if (!field)
      field = findAlias(section, entry.key);
    if (!field)
      return unknownKey(section, entry);
    const std::string path = join(section, field->key());
    if (field->isLater())
      return laterKey(*field, path, entry);
    if (draft.isStated(path))
      return statedTwice(path, entry);
    if (field->type == FieldType::Section)
      return readSection(*field, path, entry);
    draft.state(path, entry.keySpan);
    readValue(*field, path, entry);
  }

  void readSection(const FieldSpec &field, const std::string &path, const Entry &entry) {
    draft.state(path, entry.keySpan);
    if (entry.value.broken)
      draft.spoil(path);
    if (entry.value.kind == Node::Kind::Mapping)
      return read(entry.value, path);
    if (!entry.value.broken)
      draft
          .error(JobCode::NotASection,
                 inBackticks(path) +
                     (entry.value.kind == Node::Kind::Empty ? " is empty" : " is no mapping"),
                 entry.value.span, "expected keys and values")
          .note(inBackticks(path) + " says: " + std::string(field.sentence));
    draft.spoil(path);
  }

  void readValue(const FieldSpec &field, const std::string &path, const Entry &entry) {
    const Node &node = entry.value;
    if (node.broken)
      return draft.spoil(path);
    if (const std::string problem = problemOfForm(field, node); !problem.empty()) {
      Finding &finding = draft.error(JobCode::WrongType, inBackticks(path) + ' ' + problem,
                                     node.span, "expected " + expected(field));
      if (node.quoted && isNumeric(field))
        finding.withHelp("remove the quotes");
      return draft.spoil(path);
    }
    const auto parsed =
        parseValue(field, field.type == FieldType::Tokens ? idsOf(node) : node.text);
    if (const auto *problem = std::get_if<ValueProblem>(&parsed))
      return badValue(path, node, *problem);
    draft.store(field, path, std::get<Value>(parsed),
                {.kind = OriginKind::Given, .span = node.span});
  }

  /// Texts of one byte are that byte's token: `["\n", 59]` is `[10, 59]`.
  static std::string idsOf(const Node &node) {
    const auto idOf = [](const Node &item) {
      return item.quoted ? std::to_string(static_cast<unsigned char>(item.text[0])) : item.text;
    };
    if (node.kind == Node::Kind::Scalar)
      return '[' + idOf(node) + ']';
    std::string text;
    for (const Node &item : node.items)
      text += (text.empty() ? "[" : ", ") + idOf(item);
    return text.empty() ? "[]" : text + ']';
  }

  static std::string expected(const FieldSpec &field) {
    switch (field.type) {
    case FieldType::Section:
      return "a mapping";
    case FieldType::Count:
      return field.unit.empty() ? "a whole number" : "a number of " + std::string(field.unit);
    case FieldType::Number:
      return "a number";
    case FieldType::Bytes:
      return "a size such as 80GiB";
    case FieldType::Seconds:
      return "a duration such as 600s";
    case FieldType::Word:
      return "a word";
    case FieldType::Name:
      return "a name";
    case FieldType::Path:
      return "a path";
    case FieldType::Ranks:
      return "ranks such as 0-3";
    case FieldType::Pair:
      return (field.oneForBoth ? "a number, or two such as " : "two numbers such as ") +
             std::string(field.fallback);
    case FieldType::Counts:
      return "whole numbers such as [3, 2, 2, 1]";
    case FieldType::Amount:
      return "a number of " + std::string(field.unit) + " or " + std::string(field.otherUnit);
    case FieldType::PerRank:
      return "a whole number, or a list with one for each rank";
    case FieldType::Text:
      return "a text";
    case FieldType::Tokens:
      return "tokens such as [10, \";\"]";
    }
    return {};
  }

  static bool isNumeric(const FieldSpec &field) {
    return field.type == FieldType::Number || (field.type == FieldType::Pair && field.oneForBoth) ||
           (field.type == FieldType::Count && field.unit.empty());
  }

  static bool isList(const FieldSpec &field) {
    return field.type == FieldType::Pair || field.type == FieldType::Counts;
  }

  static bool isToken(const Node &node) {
    return node.kind == Node::Kind::Scalar && (!node.quoted || node.text.size() == 1);
  }

  /// What is wrong with the kind of node, whatever its text says; empty if nothing.
  static std::string problemOfForm(const FieldSpec &field, const Node &node) {
    switch (node.kind) {
    case Node::Kind::Empty:
      return "has no value";
    case Node::Kind::Mapping:
      return "takes one value, not a mapping";
    case Node::Kind::List:
      if (field.type == FieldType::Tokens)
        return std::ranges::all_of(node.items, isToken)
                   ? ""
                   : "takes tokens: numbers, or texts of one byte";
      if (!isList(field) && field.type != FieldType::PerRank)
        return "takes one value, not a list";
      for (const Node &item : node.items)
        if (item.kind != Node::Kind::Scalar || item.quoted)
          return field.type == FieldType::Pair ? "takes two numbers" : "takes whole numbers";
      return {};
    case Node::Kind::Scalar:
      break;
    }
    if (field.type == FieldType::Tokens && !isToken(node))
      return "takes tokens: numbers, or texts of one byte";
    if (isList(field) && !field.oneForBoth && !(field.layoutText && isLayoutText(node.text)))
      return field.type == FieldType::Pair ? "takes a list of two numbers"
                                           : "takes a list of whole numbers";
    if (node.quoted && isNumeric(field))
      return "takes a number, and what is in quotes is text";
    const bool isNull =
        !node.quoted && (node.text == "null" || node.text == "Null" || node.text == "NULL");
    if (isNull && field.type != FieldType::Word)
      return "has no value: `null` is nothing";
    return {};
  }

  void badValue(const std::string &path, const Node &node, const ValueProblem &problem) {
    if (path == "version")
      draft.error(JobCode::Version,
                  "version " + inBackticks(node.text) + " of the job format is unknown", node.span,
                  "this program reads version 1");
    else
      draft.error(problem.code, inBackticks(path) + ' ' + problem.message, node.span, problem.label)
          .withHelp(problem.help);
    draft.spoil(path);
  }

  void laterKey(const FieldSpec &field, const std::string &path, const Entry &entry) {
    draft
        .error(JobCode::LaterKey,
               inBackticks(path) +
                   " asks for something vime cannot do yet: " + std::string(field.later),
               entry.keySpan, "not there yet")
        .withHelp("leave it out");
    draft.spoil(path);
  }

  void statedTwice(const std::string &path, const Entry &entry) {
    draft
        .error(JobCode::DuplicateKey, inBackticks(path) + " is stated twice", entry.keySpan,
               inBackticks(entry.key) + " is another name for it")
        .note("the first one is here", draft.keySpan(path))
        .withHelp("keep one of them");
  }

  void unknownKey(const std::string &section, const Entry &entry) {
    const std::string where = section.empty() ? "a job" : inBackticks(section);
    Finding &finding =
        draft.error(JobCode::UnknownKey, "unknown key " + inBackticks(entry.key) + " in " + where,
                    entry.keySpan, "not a key of " + where);
    Suggestion suggestion = suggestionFor(section, entry.key);
    draft.spoil(suggestion.path.empty() ? join(section, entry.key) : suggestion.path);
    finding.withHelp(std::move(suggestion.help));
    if (finding.help.empty())
      finding.note("the keys of " + where + " are " + keyList(section));
  }

  static std::string keyList(std::string_view section) {
    std::string list;
    for (const std::string_view key : keysOf(section))
      list += (list.empty() ? "" : ", ") + inBackticks(key);
    return list;
  }

  Draft &draft;
};

constexpr std::size_t kMostErrors = 200; // nobody reads more

// Everything of one run reads from the top of the file down; what other files say, behind it.
void sortByPlace(Findings &findings, std::size_t first, const std::string &file) {
  const auto place = [&](const Finding &finding) {
    return std::tuple(finding.span.file != file, finding.span.line, finding.span.column);
  };
  std::stable_sort(
      findings.all().begin() + static_cast<std::ptrdiff_t>(first), findings.all().end(),
      [&](const Finding &left, const Finding &right) { return place(left) < place(right); });
}

void limit(Findings &findings, std::size_t first, const std::string &file) {
  if (findings.size() - first <= kMostErrors)
    return;
  findings.all().resize(first + kMostErrors);
  findings
      .error(Rule::J, number(JobCode::TooLarge),
             "more than " + std::to_string(kMostErrors) + " errors; the others are not listed")
      .at({.file = file});
}

} // namespace

std::optional<Job> readJob(std::string_view text, const std::string &file, Findings &findings,
                           std::span<const std::string> settings, SourceCache *sources) {
  const std::size_t before = findings.size();
  if (!checkText(text, file, findings))
    return std::nullopt;
  std::optional<Node> root = readDocument(text, file, findings);
  if (!root)
    return std::nullopt;
  Draft draft(file, findings);
  if (root->kind != Node::Kind::Mapping) {
    const bool empty = root->kind == Node::Kind::Empty;
    const bool isTable = std::holds_alternative<OrderTable>(readTable(text));
    draft
        .error(empty ? JobCode::EmptyFile : JobCode::NotASection,
               empty ? "the job is empty" : "a job is a mapping of sections",
               empty ? SourceSpan{file, 1, 1} : root->span, empty ? "" : "expected `version: 1`")
        .withHelp(isTable
                      ? "this is the table of an order: `vimec verify` judges it, and a job names "
                        "it by `pipeline: {schedule: order.csv}`"
                      : "start with `version: 1`; a small job: examples/text-1f1b/job.yaml");
    return std::nullopt;
  }
  if (!root->entries.empty())
    draft.state("", root->entries.front().keySpan);
  applySettings(*root, settings, findings);
  SectionReader(draft).read(*root, "");
  readCheckpoints(draft);
  readOrderOf(draft, sources);
  complete(draft);
  packTextsOf(draft);
  checkRules(draft);
  sortByPlace(findings, before, file);
  limit(findings, before, file);
  return findings.size() == before ? std::optional(std::move(draft.job)) : std::nullopt;
}

std::string pathFromJob(const std::string &jobFile, const std::string &path) {
  const std::filesystem::path stated(path);
  return stated.is_absolute() ? path
                              : (std::filesystem::path(jobFile).parent_path() / stated).string();
}

} // namespace vime
