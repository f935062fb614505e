// Every order equals the tables under golden/ cell by cell; see golden/README.md for where they
// come from.
#include "schedules/Notation.h"
#include "schedules/Registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace vime {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = VIME_GOLDEN_ORDERS;

std::string contents(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct GoldenFile {
  fs::path path;
  std::string name; // of our order
  ScheduleShape shape;
};

std::string ourName(const std::string &theirs) {
  if (theirs == "GPipe")
    return "gpipe";
  if (theirs == "1F1B")
    return "1f1b";
  return theirs == "Interleaved1F1B" ? "interleaved" : "unknown";
}

std::vector<GoldenFile> pytorchFiles() {
  std::vector<GoldenFile> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(kGolden / "pytorch")) {
    const std::string stem = entry.path().stem().string();
    char name[64];
    ScheduleShape shape{};
    if (std::sscanf(stem.c_str(), "%63[^_]_pp%d_v%d_mb%d", name, &shape.ranks, &shape.chunks,
                    &shape.microbatches) == 4)
      files.push_back({entry.path(), ourName(name), shape});
  }
  return files;
}

TEST(Golden, PyTorch) {
  const std::vector<GoldenFile> files = pytorchFiles();
  EXPECT_EQ(files.size(), 39U); // 8 GPipe, 7 1F1B, 24 interleaved
  for (const GoldenFile &file : files) {
    SCOPED_TRACE(file.path.filename());
    const Order *order = findOrder(file.name);
    ASSERT_NE(order, nullptr);
    ASSERT_EQ(check(*order, file.shape), std::nullopt);
    EXPECT_EQ(toCsv(order->build(file.shape)), contents(file.path));
  }
}

TEST(Golden, PyTorchMetrics) {
  std::ifstream table(kGolden / "pytorch" / "metrics.csv");
  int checked = 0;
  for (std::string line; std::getline(table, line);) {
    char name[64];
    char peaks[256];
    ScheduleShape shape{};
    double makespan = 0;
    double bubble = 0;
    if (std::sscanf(line.c_str(), "%63[^,],%d,%d,%d,%*d,%lf,%lf,%*f,%255[0-9 ]", name, &shape.ranks,
                    &shape.chunks, &shape.microbatches, &makespan, &bubble, peaks) != 7)
      continue; // the head line
    SCOPED_TRACE(line);
    const UnitTimes times = simulate(findOrder(ourName(name))->build(shape));
    EXPECT_EQ(times.stuck, std::nullopt);
    EXPECT_EQ(static_cast<double>(times.makespan), makespan);
    EXPECT_NEAR(times.bubble, bubble, 5e-5); // four places are given
    std::string ours;
    for (const int peak : times.peakLive)
      ours += (ours.empty() ? "" : " ") + std::to_string(peak);
    EXPECT_EQ(ours, peaks);
    ++checked;
  }
  EXPECT_EQ(checked, 39);
}

// F3.0: kind, microbatch, chunk, as the zero-bubble tables have it.
std::string inZeroBubbleNotation(const Schedule &order) {
  std::string text;
  for (const std::vector<Task> &row : order.rows) {
    for (const Task &task : row) {
      const char kind = task.kind == TaskKind::Forward         ? 'F'
                        : task.kind == TaskKind::BackwardInput ? 'B'
                                                               : 'W';
      text += (&task == &row.front() ? "" : ",") + (kind + std::to_string(task.microbatch)) + ".0";
    }
    text += "\n";
  }
  return text;
}

TEST(Golden, ZeroBubbleH1) {
  const Order *order = findOrder("zb-h1");
  for (const ScheduleShape shape : {ScheduleShape{4, 8}, ScheduleShape{8, 16}}) {
    const std::string name =
        "rule_zbh1_p" + std::to_string(shape.ranks) + "_m" + std::to_string(shape.microbatches);
    std::string golden = contents(kGolden / "zero-bubble" / (name + ".csv"));
    std::erase(golden, '\r');
    EXPECT_EQ(inZeroBubbleNotation(order->build(shape)), golden);
  }
}

} // namespace
} // namespace vime
