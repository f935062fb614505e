// Codes: every finding of the judges, with what it means. A code never changes its meaning; a new
// one takes a free number.
#pragma once

#include <span>
#include <string_view>

#include "compiler/Diagnostics/Findings.h"

namespace vime {

struct VerifierCode {
  Rule rule;
  int number;
  std::string_view meaning; // one sentence, lower case, no full stop
};

/// Ascending by rule and number.
std::span<const VerifierCode> verifierCodes();

/// Null for a code that no judge uses.
const VerifierCode *findVerifierCode(Rule rule, int number);

} // namespace vime
