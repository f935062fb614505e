// Traces made of simulated runs: what was put in must come out, whatever the clocks of the ranks
// say.
#include "compiler/Analysis/Measured.h"
#include "compiler/Analysis/StepReport.h"
#include "compiler/Lowering/OrderPlan.h"
#include "schedules/Registry.h"
#include "tests/analysis/SimulatedTraces.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace vime {
namespace {

using trace::RankTrace;
using trace::TracedAction;
using verify::ActionTable;

/// A plan of several steps of an order with tasks of unequal stages and messages that take time.
struct Traced {
  explicit Traced(const char *name, int ranks = 4, int microbatches = 8) {
    Findings findings;
    const Order &order = *findOrder(name);
    plan = planOfOrder(
        order.build({.ranks = ranks, .microbatches = microbatches, .chunks = order.chunks.usual}),
        microbatches, "order.csv", {}, findings);
    table.emplace(*plan, verify::wholeStepOf(*plan));
    durations = unitDurations(*plan, {10, 12, 8, 2});
    for (std::size_t stage = 0; stage < durations.stages.size(); ++stage)
      durations.stages[stage][plan::Opcode::Forward] += static_cast<std::int64_t>(stage) * 1000;
    run = simulate(*table, durations, 1);
  }

  std::vector<RankTrace> traces(std::uint32_t steps) const { return tracesOf(*table, run, steps); }

  std::optional<plan::Plan> plan;
  std::optional<ActionTable> table;
  Durations durations;
  Simulated run;
};

TEST(Measured, AStepIsWhatWasTraced) {
  for (const char *name : {"1f1b", "zb-h1", "interleaved", "zb-v"}) {
    const Traced traced(name);
    const std::vector<RankTrace> traces = traced.traces(3);
    ASSERT_EQ(lastStepOf(*traced.table, traces), 2U);
    const Simulated step = measuredStep(*traced.table, traces, 2);
    EXPECT_EQ(step.period, traced.run.period + 5000) << name;
    for (std::uint32_t entry = 0; entry < traced.table->size(); ++entry)
      if (traced.run.times[entry].peer != verify::kNone) {
        EXPECT_EQ(step.times[entry].ready - step.stepBegin,
                  traced.run.times[entry].ready - traced.run.stepBegin);
        EXPECT_EQ(step.times[entry].end - step.times[entry].ready,
                  traced.run.times[entry].end - traced.run.times[entry].ready);
      }
    const Durations costs = measuredDurations(*traced.table, traces);
    for (std::size_t stage = 0; stage < costs.stages.size(); ++stage)
      EXPECT_EQ(costs.stages[stage][plan::Opcode::Forward],
                traced.durations.stages[stage][plan::Opcode::Forward]);
    EXPECT_EQ(costs.boundaryLatency, traced.durations.boundaryLatency);
    // So the run can be foretold from its own costs.
    EXPECT_EQ(simulate(*traced.table, costs, 1).period, traced.run.period) << name;
  }
}

// Clocks that are seconds apart and run at other speeds.
TEST(Measured, ClocksAreAligned) {
  const Traced traced("1f1b");
  const std::vector<RankTrace> straight = traced.traces(20);
  std::vector<RankTrace> skewed = straight;
  for (std::size_t rank = 0; rank < skewed.size(); ++rank) {
    const double offset = 3e9 * static_cast<double>(rank) - 1e9;
    const double drift = 2e-5 * static_cast<double>(rank);
    skewed[rank].startedWall = static_cast<std::int64_t>(-offset); // the wall clock knows
    for (TracedAction &action : skewed[rank].actions)
      for (std::int64_t *time : {&action.posted, &action.begin, &action.end})
        *time = static_cast<std::int64_t>(static_cast<double>(*time) * (1 + drift) + offset);
  }
  alignClocks(*traced.table, skewed);
  // The first rank's clock is the common one; half a message's time is what alignment can be off by
  // where messages take as long one way as the other.
  const double first =
      static_cast<double>(skewed[0].actions.front().posted - straight[0].actions.front().posted);
  for (std::size_t rank = 0; rank < skewed.size(); ++rank)
    for (std::size_t index = 0; index < skewed[rank].actions.size(); ++index)
      ASSERT_NEAR(static_cast<double>(skewed[rank].actions[index].posted),
                  static_cast<double>(straight[rank].actions[index].posted) + first,
                  double(traced.durations.boundaryLatency) / 2)
          << rank << " " << index;
}

TEST(Measured, RanksOfOneMachineShareAClock) {
  const Traced traced("1f1b");
  std::vector<RankTrace> traces = traced.traces(2);
  const std::vector<RankTrace> before = traces;
  alignClocks(*traced.table, traces);
  for (std::size_t rank = 0; rank < traces.size(); ++rank)
    EXPECT_EQ(traces[rank].actions.back().end, before[rank].actions.back().end);
}

TEST(Measured, AStepThatIsNotThereWholeIsNone) {
  const Traced traced("1f1b");
  std::vector<RankTrace> traces = traced.traces(2);
  traces[2].actions.pop_back();
  EXPECT_EQ(lastStepOf(*traced.table, traces), 0U);
  traces[1].actions.clear();
  EXPECT_EQ(lastStepOf(*traced.table, traces), std::nullopt);
}

class Folder {
public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "vime-trace-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

TEST(Measured, FilesAreReadBackOrRefused) {
  const Traced traced("1f1b");
  const Folder folder;
  const std::vector<RankTrace> traces = traced.traces(2);
  for (const RankTrace &trace : traces)
    ASSERT_TRUE(trace::writeTrace(trace, folder.path + "/" + trace::traceNameOf(trace.rank)).ok());
  const auto read = readTraces(folder.path, *traced.table, {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ((*read)[3].actions.size(), traces[3].actions.size());
  EXPECT_EQ(readTraces(folder.path, *traced.table, {1, 2}).status().code(),
            StatusCode::InvalidInput);
  const std::string file = folder.path + "/rank-1.trace";
  for (const std::size_t left : {std::size_t{0}, std::size_t{50}, std::size_t{100}}) {
    std::filesystem::resize_file(file, left);
    EXPECT_EQ(readTraces(folder.path, *traced.table, {}).status().code(), StatusCode::InvalidInput);
  }
  std::ofstream(file) << std::string(200, 'x');
  EXPECT_EQ(readTraces(folder.path, *traced.table, {}).status().code(), StatusCode::InvalidInput);
  std::filesystem::remove(file);
  EXPECT_EQ(readTraces(folder.path, *traced.table, {}).status().code(), StatusCode::File);
}

} // namespace
} // namespace vime
