#include "compiler/Machine/ReadMachine.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Machine/NodeReader.h"
#include "compiler/Machine/ReadMeasured.h"

namespace vime {

namespace {

class MachineReader {
public:
  explicit MachineReader(Findings &findings) : reader(findings) {}

  Machine read(const Node &root) {
    std::vector<std::string_view> sections = {"kind", "version", "name", "measured"};
    for (const MachineField &field : machineFields())
      if (sections.back() != sectionOf(field.path))
        sections.push_back(sectionOf(field.path));
    for (const Entry &entry : root.entries) {
      if (entry.key == "kind")
        reader.word("kind", entry, std::array<std::string_view, 1>{"machine"});
      else if (entry.key == "version")
        readVersion(entry);
      else if (entry.key == "name")
        readName(entry);
      else if (entry.key == "measured")
        machine.measured = readMeasured(entry, reader);
      else if (reader.isKnown("a machine", entry, sections))
        readFigures(entry);
    }
    const auto need = [&](const char *key, const char *help) {
      if (!findEntry(root, key))
        reader.missing(key, root.entries.front().keySpan, help);
    };
    need("kind", "a machine begins with `kind: machine`");
    need("version", "add `version: 1`");
    need("name", "add `name: mine`");
    return std::move(machine);
  }

private:
  void readVersion(const Entry &entry) {
    const std::string *text = reader.scalar("version", entry);
    if (text && *text != "1")
      reader.error(JobCode::Version,
                   "version " + inBackticks(*text) + " of the machine format is unknown",
                   entry.value.span, "this program reads version 1");
  }

  void readName(const Entry &entry) {
    if (const auto name = reader.value("name", entry, {.type = FieldType::Name}))
      machine.name = std::get<std::string>(*name);
  }

  void readFigures(const Entry &section) {
    if (!reader.isMapping(section.key, section))
      return;
    std::vector<std::string_view> keys;
    for (const MachineField &field : machineFields())
      if (sectionOf(field.path) == section.key)
        keys.push_back(field.path.substr(section.key.size() + 1));
    for (const Entry &entry : section.value.entries)
      if (reader.isKnown(inBackticks(section.key), entry, keys))
        for (const MachineField &field : machineFields())
          if (field.path == join(section.key, entry.key))
            machine.*field.figure = figureIn(field, entry);
  }

  Figure figureIn(const MachineField &field, const Entry &entry) {
    const std::string path(field.path);
    Figure figure;
    if (entry.value.kind == Node::Kind::Scalar && !entry.value.broken) {
      reader
          .error(JobCode::MissingKey, inBackticks(path) + " has no source", entry.value.span,
                 "where is this from?")
          .withHelp(fmt::format("write `{}: {{value: {}, source: …}}`", entry.key,
                                printable(entry.value.text)));
      return figure;
    }
    if (!reader.isMapping(path, entry))
      return figure;
    for (const Entry &part : entry.value.entries) {
      if (!reader.isKnown(inBackticks(path), part, {"value", "source"}))
        continue;
      if (part.key == "value")
        figure.value = reader.number(path, part, field.kind).value_or(0);
      else
        figure.source = reader.source(path + ".source", part);
    }
    for (const std::string_view key : {"value", "source"})
      if (!findEntry(entry.value, key))
        reader.missing(path + '.' + std::string(key), entry.keySpan);
    return figure;
  }

  NodeReader reader;
  Machine machine;
};

} // namespace

std::optional<Machine> readMachine(std::string_view text, const std::string &file,
                                   Findings &findings) {
  const std::size_t before = findings.size();
  if (!checkText(text, file, findings, "a machine"))
    return std::nullopt;
  const std::optional<Node> root = readDocument(text, file, findings, "a machine");
  if (!root)
    return std::nullopt;
  if (root->kind != Node::Kind::Mapping || root->entries.empty()) {
    const bool isEmpty = root->kind == Node::Kind::Empty;
    findings
        .error(Rule::J, number(isEmpty ? JobCode::EmptyFile : JobCode::NotASection),
               isEmpty ? "the machine is empty" : "a machine is a mapping of sections")
        .at({.file = file, .line = 1, .column = 1})
        .withHelp("start with `kind: machine`; `vimec machines h100-80g` prints one to begin with");
    return std::nullopt;
  }
  Machine machine = MachineReader(findings).read(*root);
  std::stable_sort(findings.all().begin() + static_cast<std::ptrdiff_t>(before),
                   findings.all().end(), [](const Finding &one, const Finding &other) {
                     return std::pair(one.span.line, one.span.column) <
                            std::pair(other.span.line, other.span.column);
                   });
  return findings.size() == before ? std::optional(std::move(machine)) : std::nullopt;
}

} // namespace vime
