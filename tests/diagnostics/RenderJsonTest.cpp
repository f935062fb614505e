#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/SourceCache.h"

namespace vime {
namespace {

TEST(RenderJson, SaysEverythingThatTheTextSays) {
  SourceCache sources;
  sources.add("job.yaml", "run: {steps: 0}\n");
  Findings findings;
  findings.error(Rule::J, 22, "`run.steps` is 0, must be at least 1")
      .at({"job.yaml", 1, 14, 1}, "too small")
      .note("here", SourceSpan{"job.yaml", 1, 1, 3})
      .from({1, 17}, "send")
      .withHelp("write `1`");
  EXPECT_EQ(renderJson(findings, sources), R"json({
  "format": "vime-diagnostics",
  "format_version": 1,
  "errors": [
    {
      "code": "J0022",
      "message": "`run.steps` is 0, must be at least 1",
      "file": "job.yaml",
      "line": 1,
      "column": 14,
      "length": 1,
      "label": "too small",
      "notes": [
        {
          "text": "here",
          "file": "job.yaml",
          "line": 1,
          "column": 1,
          "length": 3
        },
        {
          "text": "send",
          "rank": 1,
          "action": 17,
          "end": "from"
        }
      ],
      "help": "write `1`",
      "rendered": "error[J0022]: `run.steps` is 0, must be at least 1\n --> job.yaml:1:14\n  |\n1 | run: {steps: 0}\n  |              ^ too small\n  = from rank 1, action 17: send\nnote: here\n --> job.yaml:1:1\n  |\n1 | run: {steps: 0}\n  | ^^^\n  = help: write `1`\n"
    }
  ]
}
)json");
}

TEST(RenderJson, NothingFoundIsAnEmptyList) {
  const auto document = nlohmann::json::parse(renderJson(Findings(), SourceCache()));
  EXPECT_TRUE(document["errors"].empty());
}

TEST(RenderJson, IsJsonWhateverTheFileIsCalled) {
  Findings findings;
  findings.error(Rule::J, 1, "\xFF\x01").at({.file = "\xFE.yaml", .line = 1, .column = 1});
  EXPECT_TRUE(nlohmann::json::accept(renderJson(findings, SourceCache())));
}

} // namespace
} // namespace vime
