// What PyTorch's lowering makes of orders, held against its tables cell by cell; see
// golden/README.md for where those come from.
#include "schedules/TorchLowering.h"
#include "schedules/MergeBackwards.h"
#include "schedules/Notation.h"
#include "schedules/Registry.h"
#include "tests/schedules/GoldenTables.h"
#include "tests/schedules/ParsedOrder.h"

#include <map>

#include <gtest/gtest.h>

namespace vime {
namespace {

const std::map<std::string, OrderTable (*)(const Schedule &)> kMade{
    {"sendrecv", withTransfers},
    {"merged_sendrecv",
     [](const Schedule &order) { return withTransfers(mergeBackwards(order, Merging::All)); }},
    {"comms", [](const Schedule &order) { return withShards(order); }}};

// Of every table of tasks that PyTorch's notation of today has, by what was added to it.
TEST(TorchLowering, GoldenTables) {
  std::map<std::string, std::string> tasks;
  for (const GoldenTable &golden : goldenTables())
    if (golden.content == "compute")
      tasks[golden.name] = golden.text;
  std::map<std::string, int> equal;
  for (const GoldenTable &golden : goldenTables()) {
    const auto made = kMade.find(golden.content);
    if (golden.isOld || made == kMade.end())
      continue;
    SCOPED_TRACE(golden.name);
    const Schedule order = parsed(tasks.at(golden.name.substr(0, golden.name.find('.'))));
    EXPECT_EQ(toCsv(made->second(order)), golden.text);
    ++equal[golden.content];
  }
  EXPECT_EQ(equal, (std::map<std::string, int>{
                       {"comms", 108}, {"merged_sendrecv", 32}, {"sendrecv", 108}}));
}

// With four stages of a rank, three of which are there at a time, they come and go; with room for
// all of them each comes once.
TEST(TorchLowering, AWindowIsHowManyStagesAreThere) {
  const Schedule order = findOrder("interleaved")->build({4, 16, 4});
  const auto gathers = [&](int window) {
    std::map<int, int> count; // by stage
    const OrderTable table = withShards(order, window);
    for (const TableEntry &entry : table.rows[3])
      count[entry.stage] += entry.kind == CellKind::Unshard;
    return count;
  };
  EXPECT_EQ(gathers(3).at(15), 4);
  EXPECT_EQ(gathers(4), (std::map<int, int>{{3, 1}, {7, 1}, {11, 1}, {15, 1}}));
}

// Reduced right behind the last gradient, whatever its microbatch.
TEST(TorchLowering, ReducesOnceAStageHasAllGradients) {
  EXPECT_EQ(toCsv(withShards(parsed("0F0,1F0,0F1,1F1,1B1,1B0,0I0,0B1,0W0\n"))),
            "0UNSHARD,1UNSHARD,0F0,1F0,0F1,1F1,1B1,1B0,1REDUCE_GRAD,1RESHARD,0I0,0B1,0W0,"
            "0REDUCE_GRAD,0RESHARD\r\n");
}

// A stage beside its neighbour on one rank sends nothing; a pair sends when it has ended.
TEST(TorchLowering, HandsOverWithinARankAndBehindAPair) {
  EXPECT_EQ(toCsv(withTransfers(parsed("0F0,1F0,1B0,0B0\n"))), "0F0,1F0,1B0,0B0\r\n");
  EXPECT_EQ(toCsv(withTransfers(parsed("0F0,3F0,0F1,(3F1;3B0)OVERLAP_F_B,0B0,3B1,0B1\n"
                                       "1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1\n"))),
            "0F0,0SEND_F0,3RECV_F0,3F0,0F1,0SEND_F1,3RECV_F1,(3F1;3B0)OVERLAP_F_B,3SEND_B0,"
            "0RECV_B0,0B0,3B1,3SEND_B1,0RECV_B1,0B1\r\n"
            "1RECV_F0,1F0,2F0,2SEND_F0,1RECV_F1,1F1,2F1,2SEND_F1,2RECV_B0,2B0,1B0,1SEND_B0,"
            "2RECV_B1,2B1,1B1,1SEND_B1\r\n");
}

// Its cells have their places in its text.
TEST(TorchLowering, IsATable) {
  const OrderTable made = withShards(findOrder("dualpipe-v")->build({2, 4, 2}));
  const auto read = std::get<OrderTable>(readTable(toCsv(made)));
  for (std::size_t cell = 0; cell < made.rows[1].size(); ++cell)
    EXPECT_EQ(made.rows[1][cell].place.column, read.rows[1][cell].place.column);
  EXPECT_EQ(made.pairs, read.pairs);
}

TEST(TorchLowering, SaysWhatItHasNoWordFor) {
  EXPECT_EQ(beyondTorch(findOrder("zb-v")->build({2, 4, 2})), std::nullopt);
  EXPECT_NE(beyondTorch(findOrder("dualpipe")->build({4, 8}))->find("two copies"),
            std::string::npos);
  EXPECT_NE(beyondTorch(findOrder("seq1f1b")->build({.ranks = 2, .microbatches = 4, .slices = 2}))
                ->find("slices"),
            std::string::npos);
}

} // namespace
} // namespace vime
