// Tables of orders: what the judges say of them, as a user reads it, and that they say nothing of
// what is legal.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Verify/Codes.h"
#include "compiler/Verify/VerifyOrder.h"
#include "schedules/Notation.h"
#include "schedules/Registry.h"
#include "schedules/TorchLowering.h"
#include "schedules/UnitTime.h"

namespace vime {
namespace {

std::string judged(const std::string &text, bool rendered = true) {
  const auto table = readTable(text);
  if (const auto *problems = std::get_if<std::vector<TableProblem>>(&table))
    return problems->at(0).message;
  Findings findings;
  verifyOrder(std::get<OrderTable>(table), "t.csv", findings);
  SourceCache sources;
  sources.add("t.csv", text);
  std::string codes;
  for (const Finding &finding : findings.all()) {
    EXPECT_NE(findVerifierCode(finding.rule, finding.number), nullptr)
        << codeOf(finding.rule, finding.number);
    codes += (codes.empty() ? "" : "; ") + std::to_string(finding.span.line) + ":" +
             std::to_string(finding.span.column) + " " + finding.message;
  }
  return rendered ? "\n" + renderText(findings, sources) : codes;
}

std::string said(const std::string &text) { return judged(text, false); }

TEST(Order, LegalTablesPass) {
  for (const char *legal :
       {"0F0,0B0\n", "0F0,0I0,0W0\n", "0F0,1F0,1B0,0B0\n", "0F0,,0B0\n,1F0,1B0\n",
        "0F0,0F1,0I1,0B0,0W1\n", "0F1,0F0,0B1,0B0\n1F1,1F0,1B1,1B0\n",
        "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
        "0UNSHARD,0F0,0RESHARD,0UNSHARD,0B0,0REDUCE_GRAD,0RESHARD\n"})
    EXPECT_EQ(said(legal), "") << legal;
}

TEST(Order, ACircleIsShownWithItsTasks) {
  EXPECT_EQ(judged("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n"), R"(
error[C0207]: `0B0` can never run: 2 ranks wait for each other in a circle
 --> t.csv:1:5
  |
1 | 0F0,0B0,0F1,0B1
  |     ^^^ waits for `1B0`
note: rank 0 stops at `0B0`, which needs `1B0`, which stands behind `1F1` on rank 1
 --> t.csv:1:5
  |
1 | 0F0,0B0,0F1,0B1
  |     ^^^
note: rank 1 stops at `1F1`, which needs `0F1`, which stands behind `0B0` on rank 0
 --> t.csv:2:5
  |
2 | 1F0,1F1,1B0,1B1
  |     ^^^
)");
}

// Two circles that have nothing to do with each other are two errors.
TEST(Order, IndependentCirclesAreBothFound) {
  EXPECT_EQ(said("0F0,0B0,0F1,0B1,0F2,0B2,0F3,0B3\n1F0,1F1,1B0,1B1,1F2,1F3,1B2,1B3\n"),
            "1:5 `0B0` can never run: 2 ranks wait for each other in a circle; "
            "1:21 `0B2` can never run: 2 ranks wait for each other in a circle");
}

TEST(Order, TheRowsOwnOrder) {
  EXPECT_EQ(judged("0F0,0W0,0I0\n"), R"(
error[S0201]: `0W0` stands before `0I0`, which it needs
 --> t.csv:1:5
  |
1 | 0F0,0W0,0I0
  |     ^^^ too early
note: what it needs is here
 --> t.csv:1:9
  |
1 | 0F0,0W0,0I0
  |         ^^^
)");
  EXPECT_EQ(said("0B0,0F0\n"), "1:1 `0B0` stands before `0F0`, which it needs");
  EXPECT_EQ(said("0F0,0B0,1F0,1B0\n"), "1:5 `0B0` stands before `1B0`, which it needs");
}

TEST(Order, MissingTasks) {
  EXPECT_EQ(said("0F0,0F1,0B0,0B1\n1F0,1B0,1B1\n"),
            "2:9 stage 1 never runs the forward of microbatch 1");
  EXPECT_EQ(said("0F0,0F1,0I0,0W0,0I1\n"),
            "1:5 stage 0 never runs the weight gradient of microbatch 1");
  EXPECT_EQ(said("0F0,0F1,0I0,0W0,0W1\n"),
            "1:5 stage 0 never runs the input gradient of microbatch 1");
  EXPECT_EQ(said("0F0,0F1,0F2,0B0\n"),
            "1:5 stage 0 never runs the backward of microbatches 1 and 2");
  EXPECT_EQ(said("0F0,0F1,0F2,0B0\n1F0,1F1,1F2,1B0,1B1\n"),
            "1:5 stage 0 never runs the backward of microbatches 1 and 2; "
            "2:9 stage 1 never runs the backward of microbatch 2");
}

// PyTorch's dialect of 2.5: what B is follows from the whole table.
TEST(Order, MissingTasksInTheOldDialect) {
  EXPECT_EQ(said("0F0,0F1,0B0,0W0,0B1\n"),
            "1:5 stage 0 never runs the weight gradient of microbatch 1");
}

TEST(Order, AMicrobatchThatNobodyRunsIsOneError) {
  EXPECT_EQ(said("0F0,0B0,0F7,0B7\n"), "1:9 no task is of microbatches 1, 2, 3, 4, 5 and 6");
}

TEST(Order, ForwardsAlone) {
  EXPECT_EQ(said("0F0,0F1\n1F0,1F1\n"),
            "1:1 the table holds forwards only, and a training step runs backward too");
}

// What no text says of itself: two copies of the model, slices of microbatches.
std::string said(OrderTable table, int copies, int slices) {
  table.copies = copies;
  table.slices = slices;
  Findings findings;
  verifyOrder(table, "t.csv", findings);
  std::string all;
  for (const Finding &finding : findings.all())
    all += (all.empty() ? "" : "; ") + codeOf(finding.rule, finding.number) + " " + finding.message;
  return all;
}

OrderTable tableFrom(const char *text) { return std::get<OrderTable>(readTable(text)); }

TEST(Order, MicrobatchesPassThroughTheirCopy) {
  const char *opposite = "0F0,3F1,3B1,0B0\n2F1,1F0,1B0,2B1\n";
  EXPECT_EQ(said(tableFrom(opposite), 2, 1), "");
  EXPECT_NE(said(opposite), "");
  EXPECT_EQ(said(tableFrom("0F0,3F1,3B1,0B1\n2F1,1F0,1B0,2B1\n"), 2, 1),
            "S0111 `0B1` is of copy 0 of the model, and microbatch 1 passes through copy 1; S0101 "
            "stage 0 never runs the backward of microbatch 0");
  EXPECT_EQ(said(tableFrom("0F0,0B0\n1F1,1B1\n2F0,2B0\n"), 2, 1).substr(0, 5), "S0321");
  EXPECT_EQ(said(tableFrom("0F0,0SEND_F0,0B0\n1F1,1B1\n"), 2, 1),
            "C0122 `0SEND_F0` is a transfer that nobody needs");
}

TEST(Order, SlicesComeInOrderAndGoBackInReverse) {
  EXPECT_EQ(said(tableFrom("0F0,0F1,0B1,0B0\n"), 1, 2), "");
  EXPECT_EQ(said(tableFrom("0F0,0F1,0B0,0B1\n"), 1, 2),
            "S0201 `0B0` stands before `0B1`, which it needs");
  EXPECT_EQ(said(tableFrom("0F1,0F0,0B1,0B0\n"), 1, 2),
            "S0201 `0F1` stands before `0F0`, which it needs");
  EXPECT_EQ(said(tableFrom("0F0,0F1,0F2,0B2,0B1,0B0\n"), 1, 2), "S0101 no task is of microbatch 3");
}

TEST(Order, EveryOrderOfTheRegistryIsLegal) {
  for (const Order &rule : allOrders()) {
    ScheduleShape shape = shapeFor(rule, /*ranks=*/4, /*microbatches=*/8);
    shape.slices = rule.takes.slices ? 4 : 1;
    const OrderTable table = tableOf(rule.build(shape));
    EXPECT_EQ(said(table, table.copies, table.slices),
              rule.trains ? ""
                          : "S0101 the table holds forwards only, and a training step runs "
                            "backward too")
        << rule.name;
  }
}

TEST(Order, DoubledTasks) {
  EXPECT_EQ(judged("0F0,0F0,0B0\n"), R"(
error[S0102]: `0F0` stands twice in the table
 --> t.csv:1:5
  |
1 | 0F0,0F0,0B0
  |     ^^^ a second time
note: the first one is here
 --> t.csv:1:1
  |
1 | 0F0,0F0,0B0
  | ^^^
)");
  EXPECT_EQ(said("0F0,0B0,0I0,0W0\n"),
            "1:5 stage 0 runs the backward of microbatch 0 whole and in parts");
}

TEST(Order, StagesOnSeveralRanksOrOnNone) {
  EXPECT_EQ(judged("0F0,0B0,1F0\n1B0\n"), R"(
error[S0320]: `1B0` is on rank 1, but stage 1 is on rank 0
 --> t.csv:2:1
  |
2 | 1B0
  | ^^^ the row of rank 1
note: the stage is here
 --> t.csv:1:9
  |
1 | 0F0,0B0,1F0
  |         ^^^

error[C0207]: `0B0` can never run: 2 ranks wait for each other in a circle
 --> t.csv:1:5
  |
1 | 0F0,0B0,1F0
  |     ^^^ waits for `1B0`
note: rank 0 stops at `0B0`, which needs `1B0`
 --> t.csv:1:5
  |
1 | 0F0,0B0,1F0
  |     ^^^
note: rank 1 stops at `1B0`, which needs `1F0`, which stands behind `0B0` on rank 0
 --> t.csv:2:1
  |
2 | 1B0
  | ^^^
)");
  EXPECT_EQ(said("0F0,0B0\n2F0,2B0\n"), "2:1 no rank runs stage 1");
}

TEST(Order, Transfers) {
  const std::string first = "0F0,0SEND_F0,0RECV_B0,0B0\n";
  EXPECT_EQ(judged(first + "1F0,1B0,1SEND_B0\n"), R"(
error[C0120]: `1RECV_F0` is missing
 --> t.csv:2:1
  |
2 | 1F0,1B0,1SEND_B0
  | ^^^ its input comes from rank 0
)");
  EXPECT_EQ(said(first + "1RECV_F0,1F0,1B0,1SEND_B0,1SEND_B0\n"),
            "2:27 `1SEND_B0` stands twice in the table");
  EXPECT_EQ(said(first + "1RECV_F0,1F0,1B0,1SEND_B0,1SEND_F0\n"),
            "2:27 `1SEND_F0` is a transfer that nobody needs");
  EXPECT_EQ(said(first + "1RECV_F0,1F0,1SEND_B0,1B0\n"),
            "2:14 `1SEND_B0` stands before `1B0`, which makes it");
  EXPECT_EQ(said(first + "1F0,1RECV_F0,1B0,1SEND_B0\n"),
            "2:5 `1RECV_F0` stands behind `1F0`, which needs it");
  EXPECT_EQ(said("0F0,0SEND_F0,1F0,1B0,0B0\n"), "1:5 `0SEND_F0` is a transfer that nobody needs");
  EXPECT_EQ(said("0F0,0SEND_F0,0SEND_F1,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"),
            "1:14 `0SEND_F1` is the transfer of no task");
  EXPECT_EQ(said("1RECV_F0,0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"),
            "1:1 `1RECV_F0` is on rank 0, but stage 1 is on rank 1; 2:1 `1RECV_F0` stands twice in "
            "the table");
}

TEST(Order, Shards) {
  EXPECT_EQ(said("0F0,0UNSHARD,0B0\n"),
            "1:1 `0F0` runs while the parameters of stage 0 are sharded away");
  EXPECT_EQ(said("0UNSHARD,0UNSHARD,0F0,0B0\n"),
            "1:10 `0UNSHARD` gathers parameters that are there already");
  EXPECT_EQ(said("0UNSHARD,0F0,0B0,0RESHARD,0RESHARD\n"),
            "1:27 `0RESHARD` drops parameters that are not there");
  EXPECT_EQ(said("0F0,0F1,0B0,0REDUCE_GRAD,0B1\n"),
            "1:13 `0REDUCE_GRAD` stands before the last gradient of the stage");
  EXPECT_EQ(said("0F0,0B0,0REDUCE_GRAD,0REDUCE_GRAD\n"),
            "1:22 `0REDUCE_GRAD` reduces the gradients a second time");
}

TEST(Order, NumbersThatNoOrderHas) {
  EXPECT_EQ(
      said("0F0,0B0\n65000F65000\n"),
      "1:1 65001 stages of 65001 microbatches are 4225130001 forwards, at most 4194304 can be");
  EXPECT_EQ(said("0UNSHARD\n"), "1:1 the table holds no task");
}

TEST(Order, AFewOfAKindAreShownAndTheRestCounted) {
  std::string text;
  for (int task = 0; task < 8; ++task)
    text += task == 0 ? "0F0" : ",0F0";
  EXPECT_NE(judged(text + ",0B0\n").find("= note: 2 more of this kind"), std::string::npos);
}

// Another way to the same verdict: the simulator completes exactly the orders that are judged to.
// Tables are made by moving, doubling and renaming cells.
TEST(Order, AgreesWithTheSimulator) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  int legal = 0, stuck = 0;
  for (int round = 0; round < 3000; ++round) {
    const Order &order = allOrders()[below(allOrders().size())];
    const ScheduleShape shape = shapeFor(order, 3, 6);
    if (!order.trains || check(order, shape))
      continue;
    Schedule schedule = order.build(shape);
    for (std::vector<Task> &row : schedule.rows)
      for (Task &task : row)
        task.overlapsNext = false; // what moves would tear pairs
    for (std::size_t change = below(3); change > 0; --change) {
      std::vector<Task> &row = schedule.rows[below(3)];
      std::swap(row[below(row.size())], row[below(row.size())]);
    }
    const std::string findings = said(toCsv(schedule));
    EXPECT_EQ(findings.empty(), !simulate(schedule).stuck) << findings << "\n" << toCsv(schedule);
    ++(findings.empty() ? legal : stuck);
  }
  EXPECT_GT(legal, 1000);
  EXPECT_GT(stuck, 300);
}

// ---- tables as they are written ----

// Where each rank of a circle stops; empty: the table finishes.
std::string standstill(const std::string &text) {
  std::string stops;
  for (const TableEntry &entry : standstillAsWritten(std::get<OrderTable>(readTable(text))))
    stops += (stops.empty() ? "" : " ") + toText(entry);
  return stops;
}

TEST(Order, AStandstillIsToldByItsTransfers) {
  EXPECT_EQ(standstill("0F0,0B0\n1F0\n"), "");
  EXPECT_EQ(standstill("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"), "");
  EXPECT_EQ(standstill("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
                       "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n"),
            "0SEND_F1 1SEND_B0");
}

// Three ranks in a circle, and a fourth that waits for one of them.
TEST(Order, AStandstillHasTheRanksOfOneCircle) {
  EXPECT_EQ(standstill("0F0,0SEND_F0,0F1,3RECV_F0,3F0,3SEND_F0,0SEND_F1\n"
                       "1RECV_F0,1F0,1RECV_F1,1SEND_F0,1F1\n"
                       "2RECV_F0,2F0,2SEND_F0\n4RECV_F0,4F0\n"),
            "3RECV_F0 2RECV_F0 1RECV_F1");
}

TEST(Order, TransfersOfAGroupStartTogether) {
  const std::string first = "F0.0,{SF0.0},F1.0,", second = "\n{RF0.0},F0.0,BW0.0,";
  EXPECT_EQ(standstill(first + "{SF1.0},{RB0.0},BW0.0,{RB1.0},BW1.0" + second +
                       "{SB0.0},{RF1.0},F1.0,BW1.0,{SB1.0}\n"),
            "0SEND_F1 1SEND_B0");
  EXPECT_EQ(standstill(first + "{SF1.0+RB0.0},BW0.0,{RB1.0},BW1.0" + second +
                       "{SB0.0},{RF1.0},F1.0,BW1.0,{SB1.0}\n"),
            "");
}

/// Receives just before the tasks that need them.
OrderTable withReceivesPutOff(const OrderTable &table) {
  OrderTable late = table;
  for (std::vector<TableEntry> &row : late.rows) {
    std::vector<TableEntry> cells;
    for (const TableEntry &entry : row) {
      const bool isForward = entry.kind == CellKind::Forward;
      if (isForward || entry.kind == CellKind::Backward || entry.kind == CellKind::BackwardInput)
        for (const TableEntry &other : row)
          if (other.stage == entry.stage && other.microbatch == entry.microbatch &&
              other.kind == (isForward ? CellKind::ReceiveForward : CellKind::ReceiveBackward))
            cells.push_back(other);
      if (entry.kind != CellKind::ReceiveForward && entry.kind != CellKind::ReceiveBackward)
        cells.push_back(entry);
    }
    row = std::move(cells);
  }
  return late;
}

// PyTorch's lowering writes both ends of a message at once, so its rows are parts of one sequence,
// which finishes. Receives that are put off stand still in most orders; gpipe goes one way at a
// time.
TEST(Order, StandsStillWhereReceivesArePutOff) {
  std::map<std::string, bool> stands;
  for (const Order &order : allOrders()) {
    const ScheduleShape shape = shapeFor(order, 4, 8);
    if (!order.trains || check(order, shape))
      continue;
    Schedule schedule = order.build(shape);
    if (beyondTorch(schedule))
      continue; // no text has them
    for (std::vector<Task> &row : schedule.rows)
      for (Task &task : row)
        task.overlapsNext = false; // receives would stand between the parts
    SCOPED_TRACE(order.name);
    const OrderTable lowered = withTransfers(schedule);
    const std::string early = toCsv(lowered), late = toCsv(withReceivesPutOff(lowered));
    EXPECT_EQ(said(early), "");
    EXPECT_EQ(said(late), "");
    EXPECT_EQ(standstill(early), "");
    stands[std::string(order.name)] = !standstill(late).empty();
  }
  EXPECT_FALSE(stands.at("gpipe"));
  EXPECT_TRUE(stands.at("1f1b"));
  EXPECT_TRUE(stands.at("interleaved"));
  EXPECT_TRUE(stands.at("zb-v"));
}

TEST(Order, SumsOutOfOrderAreToldByStage) {
  const auto stages = [](const std::string &text) {
    return stagesThatSumOutOfOrder(std::get<OrderTable>(readTable(text)).schedule());
  };
  EXPECT_EQ(stages("0F0,0F1,0B0,0B1\n1F0,1F1,1B1,1B0\n"), (std::vector{1}));
  EXPECT_EQ(stages("0F0,0F1,0I1,0I0,0W0,0W1\n"), (std::vector<int>{}));
}

} // namespace
} // namespace vime
