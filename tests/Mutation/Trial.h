// Trial: a mutant before the judges and before the interpreter, and whether they agree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/Plan/Plan.h"
#include "tests/Interpreter/Interpreter.h"
#include "tests/Mutation/Bases.h"

namespace vime {

enum class Agreement : std::uint8_t {
  Accepted, // both find nothing
  Refused,  // both refuse
  Stricter, // the judges refuse what is harmless here, as their rule says and for a reason
  WrongAccept,
  WrongRefusal
};
inline constexpr std::size_t kAgreements = 5;

struct Trial {
  Agreement agreement = Agreement::Accepted;
  std::vector<std::string> codes; // of the judges, each once
  interpreter::Verdict verdict;   // of the interpreter
  std::string_view reason;        // of what is stricter
};

/// `mutation`: its class.
Trial tryPlan(const plan::Plan &mutant, std::string_view mutation);
/// The cells by the judges of orders; and, if they find nothing, the plan that is made of them.
Trial tryOrder(const BaseOrder &base, const Schedule &mutant, std::string_view mutation);

} // namespace vime
