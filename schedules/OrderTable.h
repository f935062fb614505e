// OrderTable: an order as a table of cells, in PyTorch's grammar; row i is rank i.
//
//   0F0,0SEND_F0,,0F1,(0F2;0B0)OVERLAP_F_B,0I1,0W1
//
//   task      2F0 forward  2I0 input gradient  2W0 weight gradient  2B0 whole backward
//   transfer  2SEND_F0 2RECV_F0 2SEND_B0 2RECV_B0: stage 2 is the one that sends or receives
//   shards    2UNSHARD 2RESHARD 2REDUCE_GRAD
//   pair      (2F1;3B0)OVERLAP_F_B
//
// Tables of the zero-bubble family are read as well: F3.1 is the forward of microbatch 3 and chunk
// 1 of the rank, B its input gradient, W its weight gradient, BW both, [F7.0&BW3.1] a pair and
// {SF3.1+RB2.0} transfers of one group. Which stage a chunk is follows from what lets the order
// finish soonest: PlaceChunks.h.
//
// PyTorch 2.5 and before wrote B for the input gradient wherever W stands too; such tables are
// recognised and read so. A table says what it says: whether it is complete and legal is judged by
// `compiler/Verify/VerifyOrder.h`.
#pragma once

#include "schedules/Schedule.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vime {

enum class CellKind : std::uint8_t {
  Forward, // the tasks in the order of TaskKind
  Backward,
  BackwardInput,
  BackwardWeight,
  Idle,
  SendForward,
  ReceiveForward,
  SendBackward,
  ReceiveBackward,
  Unshard,
  Reshard,
  ReduceGradients
};

constexpr bool isTask(CellKind kind) { return kind <= CellKind::BackwardWeight; }
constexpr bool isTransfer(CellKind kind) {
  return CellKind::SendForward <= kind && kind <= CellKind::ReceiveBackward;
}

/// Where in the file; line and column from 1, as editors count. The rank is line - 1.
struct TablePlace {
  int line = 1, column = 1, length = 1;
};

/// What a cell asks for. A pair is two of them, each with its own place.
struct TableEntry {
  CellKind kind;
  int stage;      // -1: of an idle slot
  int microbatch; // -1: of an idle slot, and of shards
  TablePlace place;
  bool overlapsNext = false;   // the forward of a pair, its backward behind it
  bool startsWithNext = false; // of transfers that start together, all but the last
};

/// A cell that says nothing that is known.
struct TableProblem {
  TablePlace place;
  std::string message;
  std::string help;
};

struct OrderTable {
  std::vector<std::vector<TableEntry>> rows; // one per rank
  bool isOld = false;         // read as PyTorch 2.5 wrote it; kinds are today's already
  int pairs = 0;              // overlapped pairs
  int copies = 1, slices = 1; // as `Schedule` counts them through; a text says nothing of them
  /// `loop` or `vee`: how chunks became stages; empty where the table names stages.
  std::string_view chunksAre{};

  /// One more than the largest number named.
  int stages() const;
  int microbatches() const;
  /// Tasks, pairs and idle slots alone. Each stage is on the rank where it first stands, -1 if it
  /// stands nowhere.
  Schedule schedule() const;
};

/// As the table writes it: `2SEND_F0`; of tasks as today's PyTorch does; "" of an idle slot.
std::string toText(const TableEntry &entry);

inline constexpr std::string_view kTableEnding = ".csv";

/// Orders are named by words, tables by paths.
constexpr bool namesTable(std::string_view schedule) { return schedule.ends_with(kTableEnding); }

/// All of the table, or every cell that cannot be read (at most 50). `placement` (`loop`, `vee`)
/// says which stages the chunks of a zero-bubble table are; empty: what lets the order finish.
std::variant<OrderTable, std::vector<TableProblem>> readTable(std::string_view text,
                                                              std::string_view placement = {});

/// The table that an order is, each cell at its place in the text of `toCsv`.
OrderTable tableOf(const Schedule &order);

/// Every cell at its place in the text of `toCsv`.
void placeCells(OrderTable &table);

} // namespace vime
