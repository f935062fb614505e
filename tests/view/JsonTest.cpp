// JSON for programs: parses, and names what people look for.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/View/PlanText.h"
#include "runtime/Plan/PlanFile.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;
using nlohmann::json;

TEST(PlanJson, ParsesAndCounts) {
  const Plan plan = smallPlan({.exportTo = "model"});
  const json parsed = json::parse(planJson(plan));
  EXPECT_EQ(parsed["id"], toHex(planId(plan)));
  EXPECT_EQ(parsed["job"], plan.job);
  ASSERT_EQ(parsed["programs"].size(), 2u);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(parsed["programs"][rank]["actions"].size(), plan.programs[rank].actions.size());
    EXPECT_EQ(parsed["layouts"][rank]["buffers"].size(), plan.layouts[rank].buffers.size());
  }
}

TEST(PlanJson, AnAction) {
  const json parsed = json::parse(planJson(smallPlan()));
  EXPECT_EQ(parsed["programs"][1]["actions"][5], json::parse(R"({
    "index": 5, "opcode": "forward", "lane": 0, "time": 7, "flags": [], "stage": 0, "guard": 0, "step": 0,
    "microbatch": 0, "immediate": 0, "first_operand": 7,
    "operands": {"header": 0, "segments": 1, "input": 11, "weights": 8, "stash": 13, "output": null, "workspace": 14, "tied_weights": null, "context": null},
    "waits": [{"lane": 5, "distance": 1}, {"lane": 6, "distance": 1}, {"lane": 3, "distance": 1}],
    "text": "forward, stage 1, microbatch 0"})"));
}

TEST(PlanJson, ModelsComeWithTheirTensors) {
  const json parsed = json::parse(planJson(smallPlan()));
  EXPECT_EQ(parsed["models"][0]["stages"][1]["tensors"][0]["name"], "layers.1.nothing");
}

TEST(SummaryJson, Parses) {
  const std::string_view proved[] = {"S1", "C2"};
  const json parsed = json::parse(summaryJson(smallPlan(), proved));
  EXPECT_EQ(parsed["proved"], json::parse(R"(["S1", "C2"])"));
  EXPECT_EQ(parsed["ranks"][1]["stages"], json::parse("[1]"));
  EXPECT_EQ(parsed["ranks"][1]["actions"], 22);
}

} // namespace
} // namespace vime
