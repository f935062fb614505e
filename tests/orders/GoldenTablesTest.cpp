// Every table of PyTorch's: read, judged, made into a plan around a model that computes nothing,
// proved by every judge of plans, and run to its end over the strictest transport, with the queues
// of each rank merged at random. Whatever stops a table says why.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Lowering/OrderPlan.h"
#include "compiler/Verify/Verify.h"
#include "compiler/Verify/VerifyOrder.h"
#include "runtime/Base/FileHash.h"
#include "runtime/Exec/LocalRun.h"
#include "runtime/Plan/PlanFile.h"
#include "schedules/UnitTime.h"
#include "tests/schedules/GoldenTables.h"

namespace vime {
namespace {

class Counter final : public RunObserver {
public:
  void stepFinished(const StepRecord &, std::span<const plan::RankStats>) override { ++steps; }
  void exported() override {}
  void saved(std::uint64_t) override {}
  int steps = 0;
};

// A text of as many samples as the largest table takes, in a folder of its own.
class Text {
public:
  Text() {
    std::string pattern = std::filesystem::temp_directory_path() / "vime-tables-XXXXXX";
    folder = mkdtemp(pattern.data());
    std::ofstream(folder / "nothing.txt") << std::string(4096, 'a');
    const FileFingerprint found = *hashFile((folder / "nothing.txt").string());
    facts = {.bytes = found.bytes, .hash = found.hash};
  }
  ~Text() { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
  TextFacts facts;
};

class Tables : public testing::Test {
protected:
  /// Empty, or the first finding.
  static std::string firstOf(const Findings &findings) {
    return findings.any() ? findings.all().front().message : "";
  }

  std::string run(const plan::Plan &plan, QueueMerging merging) const {
    Counter counter;
    const Status status = runLocal(plan, plan::planId(plan),
                                   {.base = text.folder.string(), .rendezvous = merging}, counter);
    return !status.ok()         ? status.message()
           : counter.steps == 1 ? ""
                                : "not every step was reported";
  }

  /// Why the table is not run to its end; empty if it is.
  std::string through(const GoldenTable &golden, std::uint64_t seed) {
    const auto read = readTable(golden.text);
    if (const auto *problems = std::get_if<std::vector<TableProblem>>(&read))
      return problems->at(0).message;
    const OrderTable &table = std::get<OrderTable>(read);
    Findings findings;
    verifyOrder(table, golden.name, findings);
    if (findings.any())
      return firstOf(findings);
    // PyTorch writes both ends of a message at once: the rows are parts of one sequence.
    if (const auto stops = standstillAsWritten(table); !stops.empty())
      return "it stands still at " + toText(stops.front());
    const auto plan =
        planOfOrder(table.schedule(), table.microbatches(), "table.csv", text.facts, findings);
    if (plan)
      verifyPlan(*plan, findings);
    if (findings.any())
      return firstOf(findings);
    later += plan->predictions.stepUnits > simulate(table.schedule()).makespan;
    for (const QueueMerging merging :
         {QueueMerging{QueueMerging::Kind::Random, seed}, QueueMerging{QueueMerging::Kind::All, 0}})
      if (std::string why = run(*plan, merging); !why.empty())
        return why;
    return {};
  }

  const Text text;
  int later = 0; // plans that the clock's rings make slower than the order alone
};

TEST_F(Tables, EachIsRunToItsEndOrRefusedForAReason) {
  std::map<std::string, int> refused;                    // by reason
  std::map<std::string, std::pair<int, int>> bySchedule; // tables, of which run
  std::uint64_t seed = 0;
  int ran = 0;
  for (const GoldenTable &golden : goldenTables()) {
    const std::string why = through(golden, ++seed);
    auto &[all, passed] = bySchedule[(golden.isOld ? "2.5/" : "") + golden.schedule];
    ++all;
    passed += why.empty();
    ran += why.empty();
    if (!why.empty())
      ++refused[why];
  }
  fmt::print("{:<28} tables  run to the end\n", "schedule");
  for (const auto &[schedule, counts] : bySchedule)
    fmt::print("{:<28} {:>6}  {:>6}\n", schedule, counts.first, counts.second);
  for (const auto &[why, count] : refused)
    fmt::print("{} refused: {}\n", count, why);
  fmt::print("{} of {} plans take longer than their order at unit costs\n", later, ran);
  EXPECT_EQ(seed, 430u);
  EXPECT_EQ(ran, 406);
  const std::map<std::string, int> expected{
      {"the table holds forwards only, and a training step runs backward too", 24}};
  EXPECT_EQ(refused, expected);
}

// Makespan, bubble and activations as the tables' own statistics say. There a pair is one task of
// three units; here the forward's output leaves after one, so that its tables are never slower.
TEST_F(Tables, TakeAsLongAndAsMuchAsTheySay) {
  std::map<std::string, std::string> texts;
  for (const GoldenTable &golden : goldenTables())
    if (!golden.isOld && golden.content == "compute")
      texts[golden.name] = golden.text;
  int checked = 0;
  for (const GoldenMetrics &metrics : goldenMetrics()) {
    const std::string name = fmt::format("{}_pp{}_v{}_mb{}", metrics.schedule, metrics.shape.ranks,
                                         metrics.shape.chunks, metrics.shape.microbatches);
    SCOPED_TRACE(name);
    const OrderTable table = std::get<OrderTable>(readTable(texts.at(name)));
    const UnitTimes times = simulate(table.schedule());
    if (table.pairs > 0) {
      EXPECT_LE(static_cast<double>(times.makespan), metrics.makespan);
    } else {
      EXPECT_EQ(static_cast<double>(times.makespan), metrics.makespan);
      EXPECT_NEAR(times.bubble, metrics.bubble, 5e-5); // four places are given
    }
    if (metrics.schedule != "ForwardOnly") { // theirs keeps what no backward will ever read
      EXPECT_EQ(fmt::format("{}", fmt::join(times.peakLive, " ")), metrics.peaks);
    }
    ++checked;
  }
  EXPECT_EQ(checked, 108);
}

} // namespace
} // namespace vime
