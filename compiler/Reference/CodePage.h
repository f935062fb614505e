// CodePage: a code of a message as `vimec explain J0012` prints it.
//
//   if (const auto page = codePage("J0012"))
//     std::cout << *page;
//
// What a code means stands where it is made (JobCodes.def, Verify/Codes.cpp); examples and remedies
// stand here, one for each code: a test compares the tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/JobCodes.h"

namespace vime {

/// Lines of a job that lead to a code, and the same lines as they should be. A line takes the place
/// of the sample job's with the same key; `wrong` without lines is an empty file.
struct JobExample {
  JobCode code;
  std::string_view wrong, right;
  std::string_view remedy;
  bool ofRounds = false; // they change the sample job with rounds
};
std::span<const JobExample> jobExamples();

/// The jobs that the examples change: one that trains on a text, one with rounds.
std::string_view sampleJob();
std::string_view sampleRoundsJob();
/// With lines of an example in the place of its own.
std::string sampleJobWith(std::string_view lines, bool ofRounds = false);

/// What a plan with this code looks like.
struct PlanExample {
  Rule rule;
  int number;
  std::string_view example;
};
std::span<const PlanExample> planExamples();

/// What to do about any code of a rule; "" for one without codes.
std::string_view remedyOf(Rule rule);

/// `J0001`, …: all codes there are, rule by rule.
std::vector<std::string> allCodes();

/// Whether a text has the form of a code, known or not: `J0012`, `c0201`.
bool isCode(std::string_view text);

/// Nothing for an unknown code.
std::optional<std::string> codePage(std::string_view code);
std::optional<std::string> codeJson(std::string_view code);

} // namespace vime
