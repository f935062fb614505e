// readDocument: YAML to a tree of our own. The one place that knows yaml-cpp.
//
// yaml-cpp's own tree keeps duplicate keys silently and expands aliases; its events show both.
// Marks count from 0, columns in bytes.
#include <algorithm>
#include <array>
#include <deque>
#include <sstream>
#include <unordered_map>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/Document.h"

namespace vime {

namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Ends reading; what was wrong is in the findings.
struct Stop {};

/// Turns marks into spans.
class Places {
public:
  Places(std::string_view text, const std::string &file) : file(file) {
    sources.add(file, std::string(text));
  }

  SourceSpan at(const YAML::Mark &mark) const {
    if (mark.is_null() || mark.line < 0)
      return {.file = file};
    return {.file = file, .line = mark.line + 1, .column = charactersBefore(mark) + 1};
  }

  SourceSpan scalar(const YAML::Mark &mark, std::string_view value) const {
    SourceSpan span = at(mark);
    span.length = std::max(
        1, static_cast<int>(characterCount(rest(mark).substr(0, scalarBytes(rest(mark), value)))));
    return span;
  }

  /// An anchor, an alias or a tag.
  SourceSpan word(const YAML::Mark &mark) const {
    SourceSpan span = at(mark);
    const std::string_view word = rest(mark).substr(0, rest(mark).find_first_of(" ,[]{}"));
    span.length = std::max(1, static_cast<int>(characterCount(word)));
    return span;
  }

  /// A list in brackets, as far as its line goes.
  SourceSpan list(const YAML::Mark &mark) const {
    SourceSpan span = at(mark);
    const std::size_t end = rest(mark).find(']');
    if (rest(mark).starts_with('[') && end != std::string_view::npos)
      span.length = static_cast<int>(characterCount(rest(mark).substr(0, end + 1)));
    return span;
  }

  /// What stands at the mark, to the end of the line.
  std::string_view rest(const YAML::Mark &mark) const {
    const std::string_view line = lineOf(mark);
    return line.substr(std::min(line.size(), static_cast<std::size_t>(mark.column)));
  }

private:
  std::string_view lineOf(const YAML::Mark &mark) const {
    return sources.line(file, mark.line + 1).value_or("");
  }

  // Marks come in ascending order, mostly, and a line may be long: counting goes on where it
  // stopped.
  int charactersBefore(const YAML::Mark &mark) const {
    if (mark.line != countedLine || mark.column < countedBytes) {
      countedLine = mark.line;
      countedBytes = countedCharacters = 0;
    }
    const std::size_t from = static_cast<std::size_t>(countedBytes);
    const std::string_view line = lineOf(mark);
    if (from < line.size())
      countedCharacters += static_cast<int>(
          characterCount(line.substr(from, static_cast<std::size_t>(mark.column) - from)));
    countedBytes = mark.column;
    return countedCharacters;
  }

  static std::size_t scalarBytes(std::string_view rest, std::string_view value) {
    if (rest.starts_with(value) && !value.empty())
      return value.size();
    const char quote = rest.empty() ? ' ' : rest[0];
    if (quote != '"' && quote != '\'')
      return rest.find_last_not_of(' ') + 1;
    for (std::size_t at = 1; at < rest.size(); ++at) {
      if (quote == '"' && rest[at] == '\\')
        ++at;
      else if (rest[at] == quote)
        return at + 1;
    }
    return rest.size();
  }

  std::string file;
  SourceCache sources;
  mutable int countedLine = -1, countedBytes = 0, countedCharacters = 0;
};

class TreeBuilder : public YAML::EventHandler {
public:
  TreeBuilder(const Places &places, Findings &findings, std::string what)
      : places(places), findings(findings), what(std::move(what)) {}

  void OnDocumentStart(const YAML::Mark &mark) override {
    if (++documents == 1)
      return;
    SourceSpan span = places.at(mark);
    span.length = 3;
    unsupported(span, what + " is one document", "a second one starts here",
                "remove the `---` and what follows it");
    throw Stop();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark &mark, YAML::anchor_t anchor) override {
    refuseAnchor(mark, anchor);
    // yaml-cpp takes the word for nothing; `family: null` is a word.
    for (const std::string_view word : {"null", "Null", "NULL"})
      if (places.rest(mark).starts_with(word))
        return add({.kind = Node::Kind::Scalar,
                    .text = std::string(word),
                    .span = places.scalar(mark, word)});
    SourceSpan span = places.at(mark);
    if (!open.empty() && open.back().key) // where it is missing, not where the next thing starts
      span = open.back().key->keySpan;
    add({.kind = Node::Kind::Empty, .span = span});
  }

  void OnAlias(const YAML::Mark &mark, YAML::anchor_t) override {
    unsupported(places.word(mark), what + " has no aliases", "says nothing itself",
                "write the value here");
    add({.kind = Node::Kind::Empty, .broken = true, .span = places.at(mark)});
  }

  void OnScalar(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                const std::string &value) override {
    const bool refused = refuseAnchor(mark, anchor) | refuseTag(mark, tag);
    add({.kind = Node::Kind::Scalar,
         .quoted = tag == "!",
         .broken = refused,
         .text = value,
         .span = places.scalar(mark, value)});
  }

  void OnSequenceStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    const bool refused = refuseAnchor(mark, anchor) | refuseTag(mark, tag);
    start({.kind = Node::Kind::List, .broken = refused, .span = places.list(mark)}, style);
  }

  void OnSequenceEnd() override {
    Node &list = *open.back().node;
    for (const Node &item : list.items) {
      list.text += (list.text.empty() ? "[" : ", ") + item.text;
      list.broken = list.broken || item.broken;
    }
    list.text += list.text.empty() ? "[]" : "]";
    open.pop_back();
  }

  void OnMapStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    const bool refused = refuseAnchor(mark, anchor) | refuseTag(mark, tag);
    start({.kind = Node::Kind::Mapping, .broken = refused, .span = places.at(mark)}, style);
  }

  void OnMapEnd() override { open.pop_back(); }

  /// The bracket that was opened last and not closed.
  const SourceSpan *openBracket() const {
    return !open.empty() && open.back().bracketed ? &open.back().node->span : nullptr;
  }

  Node root;

private:
  /// A list or mapping whose end has not come. Nodes do not move while something inside them is
  /// open.
  struct Open {
    Node *node = nullptr;
    bool bracketed = false;                                 // `{` or `[`
    std::optional<Entry> key{};                             // of a mapping: read, its value not yet
    std::unordered_map<std::string, std::size_t> indices{}; // of a mapping: the entries by key
  };

  void start(Node node, YAML::EmitterStyle::value style) {
    if (open.size() >= kDeepest) {
      findings
          .error(Rule::J, number(JobCode::TooLarge),
                 "nested more than " + std::to_string(kDeepest) + " levels deep")
          .at(node.span, "no job is");
      throw Stop();
    }
    if (!open.empty() && open.back().node->kind == Node::Kind::Mapping && !open.back().key)
      refuseKey(node.span);
    open.push_back(
        {.node = place(std::move(node)), .bracketed = style == YAML::EmitterStyle::Flow});
  }

  void add(Node node) {
    if (open.empty() || open.back().node->kind == Node::Kind::List || open.back().key) {
      place(std::move(node));
      return;
    }
    if (node.kind == Node::Kind::Empty)
      refuseKey(node.span);
    open.back().key = Entry{.key = node.text, .keySpan = node.span};
  }

  /// Puts a value where it belongs. A value that has no place (of a duplicate or merge key) goes to
  /// a spare one.
  Node *place(Node node) {
    if (open.empty())
      return &(root = std::move(node));
    Open &parent = open.back();
    if (parent.node->kind == Node::Kind::List)
      return &parent.node->items.emplace_back(std::move(node));
    Entry entry = std::move(*parent.key);
    parent.key.reset();
    entry.value = std::move(node);
    if (entry.key == "<<" || isDuplicate(parent, entry)) {
      if (entry.key == "<<")
        unsupported(entry.keySpan, what + " has no merge keys", "not a key", "write the keys here");
      return &spare.emplace_back(std::move(entry.value));
    }
    parent.indices.emplace(entry.key, parent.node->entries.size());
    return &parent.node->entries.emplace_back(std::move(entry)).value;
  }

  bool isDuplicate(const Open &parent, const Entry &entry) {
    const auto first = parent.indices.find(entry.key);
    if (first == parent.indices.end())
      return false;
    findings
        .error(Rule::J, number(JobCode::DuplicateKey),
               "key `" + printable(entry.key) + "` stands twice")
        .at(entry.keySpan, "the second one")
        .note("the first one is here", parent.node->entries[first->second].keySpan)
        .withHelp("keep one of them");
    return true;
  }

  void unsupported(SourceSpan span, std::string message, std::string label, std::string help) {
    findings.error(Rule::J, number(JobCode::UnsupportedYaml), std::move(message))
        .at(std::move(span), std::move(label))
        .withHelp(std::move(help));
  }

  bool refuseAnchor(const YAML::Mark &mark, YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor)
      return false;
    unsupported(places.word(mark), what + " has no anchors", "no value",
                "remove the `&` and its name");
    return true;
  }

  // `?` and `!` are what yaml-cpp gives to values without a tag, plain and quoted.
  bool refuseTag(const YAML::Mark &mark, const std::string &tag) {
    if (tag.empty() || tag == "?" || tag == "!")
      return false;
    unsupported(places.word(mark), what + " has no tags", "the key decides what its value is",
                "remove the tag");
    return true;
  }

  [[noreturn]] void refuseKey(const SourceSpan &span) {
    unsupported(span, "a key is a word", "expected a word", "write `key: value`");
    throw Stop();
  }

  const Places &places;
  Findings &findings;
  const std::string what; // the file is
  std::vector<Open> open;
  std::deque<Node> spare;
  int documents = 0;
};

struct Wording {
  std::string_view theirs, ours, help;
};

// yaml-cpp's sentences for what people get wrong, in our words; the others are shown as they are.
constexpr std::array kWordings = {
    Wording{"end of map not found", "the mapping does not go on here",
            "check the indentation of this line"},
    Wording{"end of map flow not found", "a `{` is not closed before this",
            "add the missing `,` or `}`; put text that contains `: ` into quotes"},
    Wording{"end of sequence flow not found", "a `[` is not closed before this",
            "add the missing `,` or `]`"},
    Wording{"end of sequence not found", "the list does not go on here",
            "check the indentation of this line"},
    Wording{"illegal map value", "a `: ` that belongs to no key",
            "put text that contains `: ` into quotes"},
    Wording{"illegal flow end", "a bracket closes what was not opened", ""},
};

void reportSyntax(const YAML::Exception &error, const Places &places, const SourceSpan *openBracket,
                  Findings &findings) {
  std::string words = error.msg, help;
  for (const Wording &wording : kWordings)
    if (wording.theirs == error.msg) {
      words = wording.ours;
      help = wording.help;
    }
  Finding &finding =
      findings.error(Rule::J, number(JobCode::Syntax), "the file is not YAML: " + printable(words))
          .at(places.at(error.mark))
          .withHelp(help);
  if (openBracket && help.find("missing") != std::string::npos)
    finding.note("it was opened here",
                 SourceSpan{openBracket->file, openBracket->line, openBracket->column});
}

} // namespace

std::optional<Node> readDocument(std::string_view text, const std::string &file, Findings &findings,
                                 const std::string &what) {
  if (text.starts_with(kByteOrderMark))
    text.remove_prefix(kByteOrderMark.size());
  const Places places(text, file);
  TreeBuilder builder(places, findings, what);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return std::move(builder.root);
  } catch (const Stop &) {
  } catch (const YAML::Exception &error) {
    reportSyntax(error, places, builder.openBracket(), findings);
  } catch (const std::exception &error) { // of the standard library inside yaml-cpp
    findings
        .error(Rule::J, number(JobCode::Syntax),
               "the file cannot be read as YAML: " + printable(error.what()))
        .at({.file = file});
  }
  return std::nullopt;
}

} // namespace vime
