// Verdict: where the judges put what they find. A few findings of each code are shown, the rest is
// counted; the user's line is looked up from the opcode.
//
//   verdict.error(Rule::C2, 2, rank, entry, "…").from(verdict.place(rank, before), "…")
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Verify/ActionTable.h"

namespace vime::verify {

class Verdict {
public:
  static constexpr int kShown = 3; // findings of one code

  Verdict(const plan::Plan &plan, Findings &findings, std::string jobFile)
      : source(plan), findings(findings), file(std::move(jobFile)) {}
  /// The verdict of one judge beside others: knows what was found before it sits, and adds to
  /// findings of its own, which `take` brings in when all have sat.
  Verdict(std::vector<const Verdict *> before, Findings &own)
      : source(before.front()->source), findings(own), file(before.front()->file),
        before(std::move(before)) {}
  void take(Verdict &&other);

  /// A finding about the plan as a whole.
  Finding &error(Rule rule, int number, std::string message);
  /// A finding about an action, which leads to the user's line.
  Finding &error(Rule rule, int number, ActionPlace place, std::string message);
  /// The action with its description, as one end of a contradiction; leads to the user's line if
  /// nothing did yet.
  void from(Finding &finding, ActionPlace place) const;
  void to(Finding &finding, ActionPlace place) const;

  /// `send forward to rank 2, stage 1, microbatch 3`.
  std::string words(ActionPlace place) const;
  /// Findings of this rule by now, shown or not.
  std::size_t count(Rule rule) const;
  bool any() const { return !counters.empty(); }
  /// Adds a note to the first finding of each code.
  void noteAll(const std::string &note);
  /// Says on the last finding of each code how many more there were.
  void close();

private:
  struct Counter {
    Rule rule;
    int number;
    std::size_t found;
    Finding *first, *last;
  };
  Counter &counterOf(Rule rule, int number);
  void findOrigin(Finding &finding, ActionPlace place) const;

  const plan::Plan &source;
  Findings &findings;
  std::string file;
  std::vector<const Verdict *> before;
  std::vector<Counter> counters;
  Finding unseen; // beyond kShown
};

/// `never`, `once`, `3 times`.
std::string times(std::uint64_t count);

/// The place of an entry.
inline ActionPlace placeOf(const ActionTable &table, const RankView &rank, std::uint32_t entry) {
  return {rank.rank, table[entry].action};
}

} // namespace vime::verify
