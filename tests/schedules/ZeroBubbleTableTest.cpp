// Tables of the zero-bubble family: cells, which stages their chunks are, and what they cannot be.
#include "schedules/Notation.h"
#include "schedules/OrderTable.h"
#include "schedules/UnitTime.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace vime {
namespace {

// What PyTorch would write, or "line:column: message" of the first problem.
std::string imported(std::string_view text, std::string_view placement = {}) {
  const auto read = readTable(text, placement);
  if (const auto *table = std::get_if<OrderTable>(&read))
    return toCsv(*table);
  const TableProblem &first = std::get<std::vector<TableProblem>>(read).front();
  return std::to_string(first.place.line) + ":" + std::to_string(first.place.column) + ": " +
         first.message;
}

TEST(ZeroBubbleTable, CellsBecomeThoseOfPyTorch) {
  EXPECT_EQ(imported("F0.0,F1.0, ,B0.0,W0.0,BW1.0"), "0F0,0F1,,0I0,0W0,0B1\r\n");
}

TEST(ZeroBubbleTable, PairsStayPairs) {
  EXPECT_EQ(imported("F0.0,[F1.0&BW0.0],[F2.0&B1.0],W1.0,BW2.0"),
            "0F0,(0F1;0B0)OVERLAP_F_B,(0F2;0I1)OVERLAP_F_B,0W1,0B2\r\n");
}

TEST(ZeroBubbleTable, GroupsBecomeTheirTransfers) {
  EXPECT_EQ(imported("F0.0,{SF0.0+RB0.0},BW0.0\n{RF0.0},F0.0,BW0.0,{SB0.0}"),
            "0F0,0SEND_F0,0RECV_B0,0B0\r\n1RECV_F0,1F0,1B0,1SEND_B0\r\n");
}

// The second chunk of rank 0 is the last stage, or the one after the first round of the ranks:
// whichever lets all tasks run.
TEST(ZeroBubbleTable, ChunksAreTheStagesThatLetTheOrderFinish) {
  EXPECT_EQ(imported("F0.0,F0.1,BW0.1,BW0.0\nF0.0,F0.1,BW0.1,BW0.0"),
            "0F0,2F0,2B0,0B0\r\n1F0,3F0,3B0,1B0\r\n");
  EXPECT_EQ(imported("F0.0,F0.1,BW0.1,F1.0,BW0.0,F1.1,BW1.1,BW1.0\n"
                     "F0.0,F0.1,F1.0,F1.1,BW0.1,BW0.0,BW1.1,BW1.0"),
            "0F0,3F0,3B0,0F1,0B0,3F1,3B1,0B1\r\n1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1\r\n");
}

TEST(ZeroBubbleTable, PlacementIsTheCallersIfStated) {
  const std::string text = "F0.0,F0.1,BW0.1,BW0.0\nF0.0,F0.1,BW0.1,BW0.0";
  EXPECT_EQ(imported(text, "vee"), "0F0,3F0,3B0,0B0\r\n1F0,2F0,2B0,1B0\r\n");
  EXPECT_EQ(std::get<OrderTable>(readTable(text, "vee")).chunksAre, "vee");
  EXPECT_EQ(std::get<OrderTable>(readTable(text)).chunksAre, "loop");
  EXPECT_EQ(std::get<OrderTable>(readTable("0F0,0B0")).chunksAre, "");
}

// Numbers without their tasks: what is missing is for the judge to say.
TEST(ZeroBubbleTable, WildNumbersAreNotRun) {
  EXPECT_EQ(imported("F0.0,F1048575.63"), "0F0,63F1048575\r\n");
  EXPECT_EQ(imported("F0.0,F9.1\nF0.0", "vee"), "0F0,3F9\r\n1F0\r\n");
}

TEST(ZeroBubbleTable, TwoCopiesOfTheModelAreNone) {
  EXPECT_EQ(imported("F0.0,F0.1,BW0.1,BW0.0\nF0.1,F0.0,BW0.0,BW0.1"),
            "1:6: the table runs two copies of the model, one down the ranks and one up");
}

TEST(ZeroBubbleTable, SlicesAreNone) {
  EXPECT_EQ(imported("F0.0s0,F0.0s1,BW0.0s1,BW0.0s0"),
            "1:8: the table cuts the sequences of microbatches into slices");
  EXPECT_EQ(imported("F0.0s0,BW0.0s0"), "0F0,0B0\r\n"); // one slice is the whole
}

TEST(ZeroBubbleTable, SaysWhichCellIsNone) {
  EXPECT_EQ(imported("F0.0,X0.0"), "1:6: `X0.0` is no task");
  EXPECT_EQ(imported("F0.0,F0"), "1:6: `F0` is no task");
  EXPECT_EQ(imported("F0.0,F0.0junk"), "1:6: `F0.0junk` is no task");
  EXPECT_EQ(imported("F0.0,F-1.0"), "1:6: `F-1.0` is no task");
  EXPECT_EQ(imported("F0.0,SF0.0"), "1:6: `SF0.0` is no task");
  EXPECT_EQ(imported("F0.0,{SF0.0+F0.0}"), "1:13: `F0.0` is no transfer");
  EXPECT_EQ(imported("F0.0,{}"), "1:7: `` is no transfer");
  EXPECT_EQ(imported("F0.0,[F1.0&"), "1:6: `[F1.0&` is no pair");
  EXPECT_EQ(imported("F0.0,[F1.0]"),
            "1:6: `[F1.0]` overlaps something else than a forward with a backward");
  EXPECT_EQ(imported("F0.0,[B1.0&F1.0]"),
            "1:6: `[B1.0&F1.0]` overlaps something else than a forward with a backward");
  EXPECT_EQ(imported("F0.0,F0.64"), "1:6: `F0.64` names a number that is too large");
  EXPECT_EQ(imported("F0.0,0F0"), "1:6: `0F0` is no task"); // one notation a table
  EXPECT_EQ(imported("0F0,F0.0"), "1:5: `F0.0` is no action");
}

std::string contents(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Every table of the makers: it is an order that finishes, under the placement of its family, or it
// is refused for what it has and a table has not.
TEST(ZeroBubbleTable, GoldenTablesAreReadOrRefusedForAReason) {
  std::map<std::string, int> outcomes;
  for (const auto &file : std::filesystem::directory_iterator(
           std::filesystem::path(VIME_GOLDEN_ORDERS) / "zero-bubble")) {
    const std::string name = file.path().stem().string();
    if (file.path().extension() != ".csv" || name.find("metrics") != name.npos)
      continue;
    SCOPED_TRACE(name);
    const auto read = readTable(contents(file.path()));
    if (const auto *problems = std::get_if<std::vector<TableProblem>>(&read)) {
      ASSERT_EQ(problems->size(), 1U);
      const bool isSliced = name.find("seq1f1b") != name.npos;
      EXPECT_TRUE(isSliced || name.find("dualpipe_") != name.npos);
      EXPECT_NE(problems->front().message.find(isSliced ? "slices" : "two copies"),
                std::string::npos);
      ++outcomes[problems->front().message];
      continue;
    }
    const auto &table = std::get<OrderTable>(read);
    EXPECT_EQ(simulate(table.schedule()).stuck, std::nullopt);
    const bool isVee = name.find("dualpipev") != name.npos || name.find("zbv") != name.npos ||
                       name.find("_v") != name.npos;
    if (name.find("vpp") == name.npos && table.stages() > static_cast<int>(table.rows.size())) {
      EXPECT_EQ(table.chunksAre, isVee && name.find("int") == name.npos ? "vee" : "loop");
    }
    ++outcomes["read"];
  }
  EXPECT_GT(outcomes["read"], 0);
}

} // namespace
} // namespace vime
