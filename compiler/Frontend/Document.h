// Document: what a YAML file says, every key and value with its place.
//
//   std::optional<Node> root = readDocument(text, "job.yaml", findings);
//   root->entries[0].key      // "version"
//   root->entries[0].keySpan  // job.yaml:1:1, 7 wide
//
// A subset of YAML 1.2: mappings, lists and scalars of one document. Anchors, aliases, merge keys,
// tags and keys that are no words are refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Diagnostics/Findings.h"

namespace vime {

struct Entry;

struct Node {
  enum class Kind : std::uint8_t { Empty, Scalar, List, Mapping };
  Kind kind = Kind::Empty;
  bool quoted = false; // a scalar in quotes, or a block of text
  bool broken =
      false; // something about it has been reported; what follows from it is not to be reported
  std::string text; // of a scalar; of a list of scalars `[0.9, 0.95]`
  SourceSpan span;
  std::vector<Entry> entries; // of a mapping, in the file's order; no key twice
  std::vector<Node> items;    // of a list
};

struct Entry {
  std::string key;
  SourceSpan keySpan;
  Node value;
};

/// The root of the one document in `text`; nothing if something made reading on pointless. What was
/// found besides (a duplicate key) is in `findings`, and the rest is there. The root may be any
/// kind of node. `what` names in messages what the file is.
std::optional<Node> readDocument(std::string_view text, const std::string &file, Findings &findings,
                                 const std::string &what = "a job");

/// UTF-8 without control characters, no tab in an indentation, no monstrous size. False if not;
/// then YAML is not tried. `what` it should be, with its article.
bool checkText(std::string_view text, const std::string &file, Findings &findings,
               std::string_view what = "a job");

} // namespace vime
