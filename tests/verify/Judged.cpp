#include "tests/verify/Judged.h"

#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Verify/Codes.h"
#include "compiler/Verify/Verify.h"

namespace vime {

std::string judged(const plan::Plan &plan) {
  Findings findings;
  verifyPlan(plan, findings);
  for (const Finding &finding : findings.all())
    EXPECT_NE(findVerifierCode(finding.rule, finding.number), nullptr)
        << codeOf(finding.rule, finding.number);
  SourceCache sources;
  return renderText(findings, sources);
}

std::string codesOf(const plan::Plan &plan) {
  Findings findings;
  verifyPlan(plan, findings);
  std::string codes;
  for (const Finding &finding : findings.all())
    if (const std::string code = codeOf(finding.rule, finding.number);
        codes.find(code) == std::string::npos)
      codes += (codes.empty() ? "" : " ") + code;
  return codes;
}

} // namespace vime
