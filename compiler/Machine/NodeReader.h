// NodeReader: the keys and values of a file of a machine, and what is wrong with them, in one
// voice.
//
//   NodeReader reader(findings);
//   if (reader.isKnown("`node`", entry, {"ranks", "cores"}))
//     reader.number("node.ranks", entry, FigureKind::Count)      // nothing, and why
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Frontend/Document.h"
#include "compiler/Frontend/FieldTable.h"
#include "compiler/Machine/Machine.h"

namespace vime {

std::string inBackticks(std::string_view text);

/// Null if the mapping has no such key.
const Entry *findEntry(const Node &mapping, std::string_view key);

class NodeReader {
public:
  explicit NodeReader(Findings &findings) : findings(findings) {}

  Finding &error(JobCode code, std::string message, const SourceSpan &span, std::string label = {});
  void missing(const std::string &path, const SourceSpan &span, std::string help = {});

  /// Whether the key is one of these; `where` names what has them.
  bool isKnown(const std::string &where, const Entry &entry,
               const std::vector<std::string_view> &keys);
  bool isMapping(const std::string &path, const Entry &entry);

  /// Where a number is from; an empty text is no source.
  std::string source(const std::string &path, const Entry &entry);
  /// The text of one value; null, and why.
  const std::string *scalar(const std::string &path, const Entry &entry);
  std::optional<double> number(const std::string &path, const Entry &entry, FigureKind kind);
  /// As a job writes it.
  std::optional<Value> value(const std::string &path, const Entry &entry, const FieldSpec &field);
  /// Which of the words.
  std::optional<std::size_t> word(const std::string &path, const Entry &entry,
                                  std::span<const std::string_view> words);

private:
  void report(const std::string &path, const Entry &entry, const ValueProblem &problem);

  Findings &findings;
};

} // namespace vime
