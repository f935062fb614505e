// Findings: what is wrong with a job, an order or a plan, collected so that one run tells
// everything.
//
//   findings.error(Rule::C1, 1, "channel `rank 1 → rank 2, forward` has 2 sends and 1 receives")
//       .from({rank, action}, "last send").withHelp("…");
//   if (findings.any()) { std::cerr << renderText(findings, sources); return 1; }
//
// The code printed is rule label + number: C1, 1 → C0101. Wording: lower case, no full stop, the
// remedy only in help.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vime {

/// Labels of architecture.md, section 4.
// clang-format off
enum class Rule : std::uint8_t {
  J,
  S1, S2, S3, S4,
  C1, C2, C3, C4,
  D1, D2, D3, D4, D5, D6,
  M1, M2, M3,
  W1, W2, W3,
  Q1, Q2,
  K1
};
// clang-format on

/// `C0101` for (C1, 1); `J0012` for (J, 12).
std::string codeOf(Rule rule, int number);
std::string_view nameOf(Rule rule);

/// A place in a file: line, and column and length in characters (code points), counted from 1; line
/// 0 = no place.
struct SourceSpan {
  std::string file;
  int line = 0, column = 0, length = 1;
  bool operator==(const SourceSpan &) const = default;
};

/// An action of a plan: index in the program, and one rank that runs it.
struct ActionPlace {
  std::uint32_t rank = 0;
  std::uint32_t action = 0;
};

/// Printed behind `= note: `; with a span as a note of its own, with that line; with an action
/// behind
/// `= from rank 1, action 17: `.
struct Note {
  enum class End : std::uint8_t { None, From, To }; // which end of a contradiction the action is
  std::string text;
  std::optional<SourceSpan> span;
  std::optional<ActionPlace> action;
  End end = End::None;
};

struct Finding {
  Rule rule = Rule::J;
  int number = 0;
  std::string message;
  SourceSpan span;       // where in the user's file
  std::string spanLabel; // behind the caret
  std::vector<Note> notes;
  std::string help;

  Finding &at(SourceSpan place, std::string label = {});
  Finding &note(std::string text, std::optional<SourceSpan> place = {});
  /// The two ends of a contradiction.
  Finding &from(ActionPlace place, std::string what = {});
  Finding &to(ActionPlace place, std::string what = {});
  Finding &withHelp(std::string text);
};

class Findings {
public:
  Finding &error(Rule rule, int number, std::string message);
  bool any() const { return !list.empty(); }
  std::size_t size() const { return list.size(); }
  std::deque<Finding> &all() { return list; }
  const std::deque<Finding> &all() const { return list; }

private:
  std::deque<Finding> list; // references stay valid
};

/// `error[J0012]: …` with source line and caret as rustc draws them; an empty line between two
/// findings. A file that `sources` lacks gives the place without the line.
class SourceCache; // Diagnostics/SourceCache.h
std::string renderText(const Finding &finding, const SourceCache &sources, bool colour = false);
std::string renderText(const Findings &findings, const SourceCache &sources, bool colour = false);
/// One JSON object: {"format": "vime-diagnostics", "format_version": 1, "errors": [{code, message,
/// file, line, column, length, label, notes: [{text, file?, line?, column?, length?, rank?,
/// action?, end?}], help, rendered}]}.
std::string renderJson(const Findings &findings, const SourceCache &sources);

} // namespace vime
