// The table of J codes.
#include "compiler/Diagnostics/JobCodes.h"

#include <array>

#include "compiler/Diagnostics/Findings.h"

namespace vime {

namespace {

constexpr std::array kCodes = {
#define VIME_JOB_CODE(number, name, meaning) JobCodeMeaning{JobCode::name, meaning},
#include "compiler/Diagnostics/JobCodes.def"
#undef VIME_JOB_CODE
};

} // namespace

std::span<const JobCodeMeaning> jobCodes() { return kCodes; }

std::optional<JobCodeMeaning> jobCodeFromText(std::string_view code) {
  for (const JobCodeMeaning &known : kCodes)
    if (codeOf(Rule::J, number(known.code)) == code)
      return known;
  return std::nullopt;
}

} // namespace vime
