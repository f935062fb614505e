// JobCodes: the errors of rule J by name, and what each means.
//
//   findings.error(Rule::J, number(JobCode::UnknownKey), "…")  // J0012
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace vime {

enum class JobCode : int {
#define VIME_JOB_CODE(number, name, meaning) name = number,
#include "compiler/Diagnostics/JobCodes.def"
#undef VIME_JOB_CODE
};

constexpr int number(JobCode code) { return static_cast<int>(code); }

struct JobCodeMeaning {
  JobCode code;
  std::string_view meaning; // one sentence, lower case, no full stop
};

/// All of them, ascending.
std::span<const JobCodeMeaning> jobCodes();

/// `J0012`; nothing if there is no such code.
std::optional<JobCodeMeaning> jobCodeFromText(std::string_view code);

} // namespace vime
