// Every file in errors/ is a job that is wrong; beside it stands what the user reads: `name.yaml`,
// `name.txt`.
//
// VIME_UPDATE_EXPECTED=1 writes the texts anew; read the difference before committing it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/ReadJob.h"
#include "tests/frontend/SampleJob.h"

namespace vime {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> jobs() {
  std::vector<fs::path> paths;
  for (const auto &entry : fs::directory_iterator(VIME_ERRORS))
    if (entry.path().extension() == ".yaml")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string whatTheUserReads(const fs::path &path) {
  // Files are named as if the user stood in their folder; a checkpoint beside them is found all the
  // same.
  const fs::path here = fs::current_path();
  fs::current_path(path.parent_path());
  SourceCache sources;
  sources.add("job.yaml", contentsOf(path));
  Findings findings;
  const bool legal =
      readJob(*sources.source("job.yaml"), "job.yaml", findings, {}, &sources).has_value();
  fs::current_path(here);
  EXPECT_EQ(legal, !findings.any());
  return renderText(findings, sources);
}

TEST(ErrorTexts, AreWhatStandsBesideTheJob) {
  for (const fs::path &job : jobs()) {
    const fs::path expected = fs::path(job).replace_extension(".txt");
    const std::string text = whatTheUserReads(job);
    if (std::getenv("VIME_UPDATE_EXPECTED"))
      std::ofstream(expected, std::ios::binary) << text;
    EXPECT_NE(text, "") << job << " is a legal job";
    EXPECT_EQ(text, contentsOf(expected)) << job;
  }
}

TEST(ErrorTexts, CoverEveryCode) {
  std::set<std::string> printed;
  for (const fs::path &job : jobs()) {
    const std::string text = contentsOf(fs::path(job).replace_extension(".txt"));
    for (std::size_t at = text.find("error[J"); at != std::string::npos;
         at = text.find("error[J", at + 1))
      printed.insert(text.substr(at + 6, 5));
  }
  const auto isOfLaterPhases =
      [](JobCode code) { // the driver reads texts, modules and machines, not the front end
        return code == JobCode::TextUnreadable || code == JobCode::TextTooShort ||
               code == JobCode::PromptsUnreadable || code == JobCode::ModuleUnreadable ||
               code == JobCode::MachineUnreadable;
      };
  for (const JobCodeMeaning &known : jobCodes()) {
    const std::string code = codeOf(Rule::J, number(known.code));
    EXPECT_TRUE(printed.contains(code) || isOfLaterPhases(known.code)) << code;
  }
}

} // namespace
} // namespace vime
