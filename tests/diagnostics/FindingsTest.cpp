#include <cctype>
#include <set>

#include <gtest/gtest.h>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/JobCodes.h"

namespace vime {
namespace {

TEST(Findings, CodesAreALetterAndFourDigits) {
  EXPECT_EQ(codeOf(Rule::J, 12), "J0012");
  EXPECT_EQ(codeOf(Rule::C1, 2), "C0102");
  EXPECT_EQ(codeOf(Rule::S4, 1), "S0401");
  EXPECT_EQ(codeOf(Rule::K1, 3), "K0103");
  EXPECT_EQ(nameOf(Rule::W3), "W3");
}

TEST(Findings, ReferencesStayValidWhileMoreIsFound) {
  Findings findings;
  Finding &first = findings.error(Rule::J, 1, "first");
  for (int more = 0; more < 1000; ++more)
    findings.error(Rule::J, 2, "more");
  first.withHelp("still here");
  EXPECT_EQ(findings.all().front().help, "still here");
  EXPECT_EQ(findings.size(), 1001u);
}

TEST(JobCodes, EachHasItsNumberAndASentence) {
  std::set<int> numbers;
  for (const JobCodeMeaning &known : jobCodes()) {
    EXPECT_TRUE(numbers.insert(number(known.code)).second) << number(known.code);
    ASSERT_FALSE(known.meaning.empty());
    EXPECT_NE(known.meaning.back(), '.');
    EXPECT_TRUE(std::islower(known.meaning.front())) << known.meaning;
  }
}

TEST(JobCodes, AreFoundByWhatIsPrinted) {
  ASSERT_TRUE(jobCodeFromText("J0012"));
  EXPECT_EQ(jobCodeFromText("J0012")->code, JobCode::UnknownKey);
  EXPECT_FALSE(jobCodeFromText("J0099"));
  EXPECT_FALSE(jobCodeFromText("J12"));
  EXPECT_FALSE(jobCodeFromText("C0012"));
}

} // namespace
} // namespace vime
