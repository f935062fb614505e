// Tables of orders: what is read, what is refused and in which words.
#include "schedules/Notation.h"
#include "schedules/OrderTable.h"
#include "schedules/Orders/Orders.h"
#include "schedules/Registry.h"
#include "tests/schedules/GoldenTables.h"
#include "tests/schedules/ParsedOrder.h"

#include <gtest/gtest.h>

#include <random>

namespace vime {
namespace {

OrderTable table(std::string_view text) { return std::get<OrderTable>(readTable(text)); }

// "line:column: message" of each problem, "; " between them; "read" if there is none.
std::string complaint(std::string_view text) {
  const auto result = readTable(text);
  const auto *problems = std::get_if<std::vector<TableProblem>>(&result);
  std::string all = problems ? "" : "read";
  for (const TableProblem &problem : problems ? *problems : std::vector<TableProblem>())
    all += (all.empty() ? "" : "; ") + std::to_string(problem.place.line) + ":" +
           std::to_string(problem.place.column) + ": " + problem.message;
  return all;
}

std::string cells(const OrderTable &table) {
  std::string text;
  for (const auto &row : table.rows)
    for (const TableEntry &entry : row)
      text += (text.empty() ? "" : " ") + toText(entry);
  return text;
}

TEST(Table, ReadsWhatOrdersPrint) {
  for (const Order &order : allOrders()) {
    ScheduleShape shape = shapeFor(order, 3, 6);
    if (const auto problem = check(order, shape))
      shape = problem->nearest.front();
    const Schedule built = order.build(shape);
    const Schedule read = parsed(toCsv(built));
    EXPECT_EQ(read.placement, built.placement);
    EXPECT_EQ(read.rows, built.rows);
  }
}

TEST(Table, TakesSpacesBlankCellsAndEitherLineEnd) {
  EXPECT_EQ(toCsv(parsed(" 0F0 , ,0I0,0W0,\n1F0,1B0")), "0F0,,0I0,0W0,\r\n1F0,1B0\r\n");
}

TEST(Table, InfersAnyPlacement) {
  EXPECT_EQ(parsed("0F0,3F0\n1F0,2F0\n").placement, (Placement{0, 1, 1, 0}));
  EXPECT_EQ(parsed("0F0,1F0,4F0\n2F0,3F0\n").placement, (Placement{0, 0, 1, 1, 0}));
}

TEST(Table, KnowsWhereEverythingStands) {
  const OrderTable read = table("0F0, 0SEND_F0\n(1F7;2B3)OVERLAP_F_B");
  const TablePlace send = read.rows[0][1].place, second = read.rows[1][1].place;
  EXPECT_EQ(std::tuple(send.line, send.column, send.length), std::tuple(1, 6, 8));
  EXPECT_EQ(std::tuple(second.line, second.column, second.length), std::tuple(2, 6, 3));
}

TEST(Table, ReadsTransfersAndShards) {
  const std::string text = "0UNSHARD,0F0,0SEND_F0,0RECV_B0,0I0,0W0,0REDUCE_GRAD,0RESHARD";
  const OrderTable read = table(text);
  std::string commas = cells(read);
  std::replace(commas.begin(), commas.end(), ' ', ',');
  EXPECT_EQ(commas, text);
  EXPECT_EQ(toCsv(read.schedule()), "0F0,0I0,0W0\r\n");
}

TEST(Table, KeepsPairs) {
  const std::string text = "0F0,(0F7;0B3)OVERLAP_F_B,(0F8;0I4)OVERLAP_F_B,0W4\r\n";
  const Schedule order = parsed(text);
  EXPECT_TRUE(order.rows[0][1].overlapsNext && order.rows[0][3].overlapsNext);
  EXPECT_EQ(toCsv(order), text);
  EXPECT_EQ(toGrid(order), "0F0     0F7&0B3 0F8&0I4 0W4\n");
}

TEST(Table, RunsThePartsOfAPairOneAfterTheOther) {
  const OrderTable read = table("0F0,(0F7;0B3)OVERLAP_F_B,(0F8;0I4)OVERLAP_F_B");
  EXPECT_EQ(cells(read), "0F0 0F7 0B3 0F8 0I4");
  EXPECT_EQ(read.pairs, 2);
}

// Before 2.6 B was the input gradient where the backward is cut in two, BW the whole one.
TEST(Table, ReadsTheDialectOfPyTorch25) {
  EXPECT_EQ(cells(table("0F0,0F1,0B0,0W0,0B1,0W1")), "0F0 0F1 0I0 0W0 0I1 0W1");
  EXPECT_EQ(cells(table("0F0,0F1,0B0,0W0,0BW1")), "0F0 0F1 0I0 0W0 0B1");
  EXPECT_TRUE(table("0F0,0B0,0W0").isOld);
  for (const char *today : {"0F0,0B0", "0F0,0BW0", "0F0,0F1,0I0,0W0,0B1", "0F0,0I0,0W0"})
    EXPECT_FALSE(table(today).isOld) << today;
  EXPECT_EQ(cells(table("0F0,0F1,0I0,0W0,0B1")), "0F0 0F1 0I0 0W0 0B1");
}

TEST(Table, RefusesWhatIsNoAction) {
  EXPECT_EQ(complaint("0F0,0F0junk"), "1:5: `0F0junk` is no action");
  EXPECT_EQ(complaint("0F0\n2XX0"), "2:1: `2XX0` is no action");
  EXPECT_EQ(complaint("0F0,1WAIT_SEND_F0"),
            "1:5: `1WAIT_SEND_F0` waits for a send, which plans do by themselves");
  for (const char *cell : {"0F", "F0", "0", "F", "0f0", "-1F0", "0F-1", "+0F0", "0,F0", "\"0F0",
                           "0F0.0", "99999999999F0", "0F99999999999", "0RECV_0", "0UNSHARD0",
                           "0REDUCE_GRAD1", "0SEND_F", "0BI0"})
    EXPECT_NE(complaint(cell).find(" is no action"), std::string::npos)
        << cell << " gave " << complaint(cell);
}

// As spreadsheets write them.
TEST(Table, TakesQuotesAndAByteOrderMark) {
  EXPECT_EQ(toCsv(parsed("\xef\xbb\xbf\"0F0\",\"\",\" 0B0 \"\r\n")), "0F0,,0B0\r\n");
  EXPECT_EQ(table("\xef\xbb\xbf"
                  "0F0,\"0B0\"")
                .rows[0][1]
                .place.column,
            6);
}

TEST(Table, SaysOnceWhatIsWrongAllOver) {
  EXPECT_EQ(complaint("0F0;0F1;;0B0\n"), "1:4: the cells are separated by semicolons");
  EXPECT_EQ(complaint("F0.0\tBW0.0\n"), "1:5: the cells are separated by tabs");
  EXPECT_EQ(complaint("0F0 0F1\n"), "1:4: the cells are separated by blanks");
  EXPECT_EQ(complaint("rank,step 0\n0,0F0\n"), "1:1: the first line is no row of an order");
  EXPECT_EQ(complaint("# mine\n0F0,0B0\n"), "1:1: the first line is no row of an order");
  EXPECT_EQ(complaint("0Q0\n0F0,0B0\n"), "1:1: `0Q0` is no action");
  EXPECT_EQ(complaint("rank,step 0\n"), "1:1: `rank` is no action; 1:6: `step 0` is no action");
}

TEST(Table, KnowsSmallLetters) {
  const auto help = [](const char *cell) {
    return std::get<std::vector<TableProblem>>(readTable(cell)).at(0).help;
  };
  EXPECT_EQ(help("0f0"), "kinds are written in capitals: `0F0`");
  EXPECT_EQ(help("1send_f3"), "kinds are written in capitals: `1SEND_F3`");
  EXPECT_EQ(help("0unshard"), "kinds are written in capitals: `0UNSHARD`");
  EXPECT_EQ(help("0q0").find("a cell is empty or"), 0U);
}

TEST(Table, RefusesPairsOfSomethingElse) {
  EXPECT_EQ(complaint("(0F0;1B0)OVERLAP"), "1:1: `(0F0;1B0)OVERLAP` is no pair");
  EXPECT_EQ(complaint("0F0,(0F1)OVERLAP_F_B"), "1:5: `(0F1)OVERLAP_F_B` is no pair");
  EXPECT_EQ(complaint("(0F0;1Q0)OVERLAP_F_B"), "1:6: `1Q0` is no action");
  EXPECT_EQ(complaint("(0B0;1F0)OVERLAP_F_B"), "1:1: `(0B0;1F0)OVERLAP_F_B` overlaps something "
                                               "else than a forward with a backward");
  EXPECT_EQ(complaint("(0F0;1SEND_B0)OVERLAP_F_B").substr(0, 5), "1:1: ");
}

TEST(Table, TellsEveryCellThatItCannotRead) {
  EXPECT_EQ(complaint("0F0,x\ny,1F0\n"), "1:5: `x` is no action; 2:1: `y` is no action");
  EXPECT_EQ(complaint("0F0\n\n1F0"), "2:1: the row of rank 1 holds no task");
  EXPECT_EQ(complaint(""), "1:1: the table holds no row");
}

TEST(Table, RefusesNumbersOutOfRange) {
  EXPECT_EQ(complaint("0F1048576"), "1:1: `0F1048576` names a microbatch beyond 1048575");
  EXPECT_EQ(complaint("65536F0"), "1:1: `65536F0` names a stage beyond 65535");
  std::string rows;
  for (int rank = 0; rank <= 1024; ++rank)
    rows += std::to_string(rank) + "F0\n";
  EXPECT_EQ(complaint(rows), "1025:1: the table has more than 1024 rows");
}

// Whatever a file holds, a message shows little of it and no control characters.
TEST(Table, ShowsLongAndBinaryCellsSafely) {
  EXPECT_EQ(complaint(std::string(1000, 'x')), "1:1: `" + std::string(40, 'x') + "…` is no action");
  EXPECT_EQ(complaint(std::string("0F\x01\x1b[31m\0", 8)).find("1:1: `0F??[31m"), 0U);
}

// Damaged files: whatever is still read prints as itself and can be simulated; the rest is refused.
TEST(Table, AnyBytesAreReadOrRefused) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const std::string alphabet = "0123456789FBIW,,\r\n \xff(-;)";
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = toCsv(orders::zeroBubbleH1.build({.ranks = 2, .microbatches = 3}));
    for (std::size_t change = 0; change <= below(4); ++change)
      text[below(text.size())] = alphabet[below(alphabet.size())];
    const auto result = readTable(text);
    if (const auto *problems = std::get_if<std::vector<TableProblem>>(&result)) {
      for (const TableProblem &problem : *problems)
        EXPECT_TRUE(!problem.message.empty() && problem.place.line >= 1 &&
                    problem.place.column >= 1);
      continue;
    }
    const Schedule order = std::get<OrderTable>(result).schedule();
    EXPECT_EQ(parsed(toCsv(order)).rows, order.rows);
    EXPECT_NE(simulate(order).stuck.has_value(),
              toTimeline(order).find("stuck") == std::string::npos);
    ++read;
  }
  EXPECT_TRUE(100 < read && read < 3900) << read; // both happen often
}

// Tables of tasks alone print as they are; others keep their tasks.
TEST(Table, GoldenTablesPrintAsTheyAre) {
  int same = 0;
  for (const GoldenTable &golden : goldenTables()) {
    const OrderTable read = table(golden.text);
    const bool changes = golden.content != "compute" || read.isOld;
    if (!changes) {
      EXPECT_EQ(toCsv(read.schedule()), golden.text) << golden.name;
      ++same;
    }
    EXPECT_EQ(read.rows.size(), static_cast<std::size_t>(golden.shape.ranks)) << golden.name;
    EXPECT_EQ(read.stages(), golden.shape.stages()) << golden.name;
    EXPECT_EQ(read.microbatches(), golden.shape.microbatches) << golden.name;
  }
  EXPECT_EQ(same, 132); // of 145: 13 are of 2.5 and cut in two
}

// What is made of an order is what is read from its text, to the column.
TEST(Table, OrdersAreTables) {
  for (const Order &rule : allOrders()) {
    ScheduleShape shape = shapeFor(rule, /*ranks=*/4, /*microbatches=*/12);
    shape.overlap = rule.takes.overlap;
    const Schedule order = rule.build(shape);
    const OrderTable made = tableOf(order), read = table(toCsv(order));
    EXPECT_EQ(toCsv(made), toCsv(order)) << rule.name;
    EXPECT_EQ(made.pairs, read.pairs) << rule.name;
    for (std::size_t rank = 0; rank < made.rows.size(); ++rank) {
      ASSERT_EQ(made.rows[rank].size(), read.rows[rank].size()) << rule.name;
      for (std::size_t cell = 0; cell < made.rows[rank].size(); ++cell) {
        const TableEntry &left = made.rows[rank][cell], &right = read.rows[rank][cell];
        EXPECT_EQ(std::tuple(left.kind, left.stage, left.microbatch, left.overlapsNext,
                             left.place.line, left.place.column, left.place.length),
                  std::tuple(right.kind, right.stage, right.microbatch, right.overlapsNext,
                             right.place.line, right.place.column, right.place.length))
            << rule.name << ": " << toText(left);
      }
    }
    const Schedule back = made.schedule();
    EXPECT_TRUE(back.rows == order.rows && back.placement == order.placement) << rule.name;
    EXPECT_TRUE(back.copies == order.copies && back.slices == order.slices) << rule.name;
  }
}

} // namespace
} // namespace vime
