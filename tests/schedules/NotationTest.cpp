// Orders as text: what is written, what is read back, what is refused and in which words.
#include "schedules/Notation.h"
#include "schedules/OrderJson.h"
#include "schedules/Orders.h"
#include "schedules/Registry.h"

#include <gtest/gtest.h>

#include <random>

namespace vime {
namespace {

std::string timeline(const Schedule &order) { return "\n" + toTimeline(order); }

// "line:column: message", or "read".
std::string complaint(std::string_view csv) {
  const std::variant<Schedule, CsvError> result = parseCsv(csv);
  const CsvError *error = std::get_if<CsvError>(&result);
  if (!error)
    return "read";
  return std::to_string(error->line) + ":" + std::to_string(error->column) + ": " + error->message;
}

TEST(Timeline, OneFOneB) {
  EXPECT_EQ(timeline(oneFOneB({.ranks = 4, .microbatches = 4})), R"(
rank 0  F0 F1 F2 F3 .  .  .  .  .  .  B0--- .  B1--- .  B2--- .  B3---
rank 1  .  F0 F1 F2 .  .  .  .  B0--- F3 B1--- .  B2--- .  B3--- .  .
rank 2  .  .  F0 F1 .  .  B0--- F2 B1--- F3 B2--- .  B3--- .  .  .  .
rank 3  .  .  .  F0 B0--- F1 B1--- F2 B2--- F3 B3--- .  .  .  .  .  .
)");
}

TEST(Timeline, ZeroBubbleH1) {
  EXPECT_EQ(timeline(zeroBubbleH1({.ranks = 3, .microbatches = 4})), R"(
rank 0  F0 F1 F2 .  .  I0 W0 F3 I1 W1 I2 W2 I3 W3
rank 1  .  F0 F1 .  I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
rank 2  .  .  F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
)");
}

TEST(Timeline, NamesStagesWhereARankHasSeveral) {
  EXPECT_EQ(timeline(interleaved({.ranks = 2, .microbatches = 2, .chunks = 2})), R"(
rank 0  0F0 0F1 2F0 2F1 .   .   2B0---- .   2B1---- 0B0---- 0B1----
rank 1  .   1F0 1F1 3F0 3B0---- 3F1 3B1---- 1B0---- 1B1---- .   .
)");
}

TEST(Timeline, SaysWhereAnOrderIsStuck) {
  const Schedule order = std::get<Schedule>(parseCsv("0F0,0B0\n1B0,1F0\n"));
  EXPECT_EQ(timeline(order), R"(
rank 0  F0
rank 1  .
stuck: rank 0 stops at 0B0: it waits for 1B0, which stands behind 1B0 on rank 1
)");
}

TEST(Grid, AlignsColumns) {
  const Schedule order = std::get<Schedule>(parseCsv("0F10,,0B10\n1F1,1B1\n"));
  EXPECT_EQ(toGrid(order), "0F10 .    0B10\n1F1  1B1\n");
}

TEST(Csv, WritesWhatItReads) {
  for (const Order &order : allOrders()) {
    const ScheduleShape shape = shapeFor(order, 3, 6);
    const Schedule built = order.build(shape);
    const std::variant<Schedule, CsvError> read = parseCsv(toCsv(built));
    ASSERT_TRUE(std::holds_alternative<Schedule>(read)) << std::get<CsvError>(read).message;
    EXPECT_EQ(std::get<Schedule>(read).placement, built.placement);
    EXPECT_EQ(std::get<Schedule>(read).rows, built.rows);
  }
}

TEST(Csv, TakesSpacesBlankCellsAndEitherLineEnd) {
  EXPECT_EQ(toCsv(std::get<Schedule>(parseCsv(" 0F0 , ,0I0,0W0,\n1F0,1B0"))),
            "0F0,,0I0,0W0,\r\n1F0,1B0\r\n");
}

TEST(Csv, InfersAnyPlacement) {
  const Schedule order = std::get<Schedule>(parseCsv("0F0,3F0\n1F0,2F0\n"));
  EXPECT_EQ(order.placement, (Placement{0, 1, 1, 0}));
}

TEST(Csv, RefusesWhatIsNoTask) {
  const std::string noTask =
      " is no task; cells are stage, F B I or W, and microbatch, like 2F0, or empty";
  EXPECT_EQ(complaint("0F0,0F0junk"), "1:5: `0F0junk`" + noTask);
  EXPECT_EQ(complaint("0F0\n2BW0"), "2:1: `2BW0`" + noTask);
  for (const char *cell : {"0F", "F0", "0", "F", "0f0", "-1F0", "0F-1", "+0F0", "0F0 0F1", "0,F0",
                           "\"0F0\"", "0F0.0", "F0.0", "99999999999F0", "0F99999999999",
                           "\xef\xbb\xbf"
                           "0F0"})
    EXPECT_NE(complaint(cell).find(noTask), std::string::npos)
        << cell << " gave " << complaint(cell);
}

TEST(Csv, RefusesWhatTheLoweringAdds) {
  EXPECT_EQ(
      complaint("0F0,0SEND_F0"),
      "1:5: `0SEND_F0` is a transfer; the compiler adds transfers to the compute order by itself");
  EXPECT_EQ(complaint("1UNSHARD,1F0"),
            "1:1: `1UNSHARD` concerns parameters, not the compute order");
  EXPECT_EQ(complaint("(0F7;7B3)OVERLAP_F_B"),
            "1:1: `(0F7;7B3)OVERLAP_F_B` is an overlapped pair, which orders cannot hold yet");
}

TEST(Csv, RefusesTheDialectOfPyTorch25) {
  EXPECT_EQ(complaint("0F0,0B0,0W0"),
            "1:9: stage 0, microbatch 0 has a whole backward (B) beside a split one (I, W); "
            "files of PyTorch 2.5 write B for I");
}

TEST(Csv, RefusesPlacementsThatAreNone) {
  EXPECT_EQ(complaint("0F0,0B0\n1F0,0F1"),
            "2:5: `0F1` puts stage 0 on rank 1, but line 1 has it on rank 0");
  EXPECT_EQ(complaint("0F0\n2F0"), "2:1: stage 2 appears, but stage 1 is on no rank");
  EXPECT_EQ(complaint("0F0\n\n1F0"), "2:1: the row of rank 1 holds no task");
  EXPECT_EQ(complaint(""), "1:1: the file holds no row");
}

TEST(Csv, RefusesNumbersOutOfRange) {
  EXPECT_EQ(complaint("0F65536"), "1:1: `0F65536` names a microbatch beyond 65535");
  EXPECT_EQ(complaint("65536F0"), "1:1: `65536F0` names a stage beyond 65535");
  std::string rows;
  for (int rank = 0; rank <= 1024; ++rank)
    rows += std::to_string(rank) + "F0\n";
  EXPECT_EQ(complaint(rows), "1025:1: the file has more than 1024 rows");
}

// Whatever a file holds, a message shows little of it and no control characters.
TEST(Csv, ShowsLongAndBinaryCellsSafely) {
  EXPECT_EQ(
      complaint(std::string(1000, 'x')).find("1:1: `" + std::string(40, 'x') + "…` is no task"),
      0U);
  EXPECT_EQ(complaint(std::string("0F\x01\x1b[31m\0", 8)).find("1:1: `0F??[31m"), 0U);
}

// Damaged files: whatever is still read prints as itself and can be simulated; the rest is refused.
TEST(Csv, AnyBytesAreReadOrRefused) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const std::string alphabet = "0123456789FBIW,,\r\n \xff(-";
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string csv = toCsv(zeroBubbleH1({.ranks = 2, .microbatches = 3}));
    for (std::size_t change = 0; change <= below(4); ++change)
      csv[below(csv.size())] = alphabet[below(alphabet.size())];
    const std::variant<Schedule, CsvError> result = parseCsv(csv);
    if (const CsvError *error = std::get_if<CsvError>(&result)) {
      EXPECT_FALSE(error->message.empty());
      EXPECT_TRUE(error->line >= 1 && error->column >= 1);
      continue;
    }
    const Schedule &order = std::get<Schedule>(result);
    EXPECT_EQ(std::get<Schedule>(parseCsv(toCsv(order))).rows, order.rows);
    EXPECT_NE(simulate(order).stuck.has_value(),
              toTimeline(order).find("stuck") == std::string::npos);
    ++read;
  }
  EXPECT_TRUE(100 < read && read < 3900) << read; // both happen often
}

TEST(Json, IsCompleteAndFixed) {
  const Order &order = *findOrder("gpipe");
  const ScheduleShape shape{.ranks = 2, .microbatches = 1};
  EXPECT_EQ("\n" + toJson(order, shape, order.build(shape)), R"json(
{
  "name": "gpipe",
  "ranks": 2,
  "microbatches": 1,
  "chunks": 1,
  "placement": [0, 1],
  "rows": [
    ["0F0", null, null, null, "0B0"],
    [null, "1F0", "1B0"]
  ],
  "unit_time": {"makespan": 6, "busy": [3, 3], "bubble": 0.500000, "peak_live": [1, 1]},
  "bubble": "(p-1)(F+B)",
  "peak": "m microbatches",
  "source": "Huang et al. 2019"
}
)json");
}

} // namespace
} // namespace vime
