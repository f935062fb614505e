// Notation: orders as text, in PyTorch's grammar.
//
//   0F1  stage 0, microbatch 1: forward    0B1  whole backward
//   0I1  input gradient                    0W1  weight gradient     blank or `.`  idle slot
#pragma once

#include "schedules/Schedule.h"
#include "schedules/UnitTime.h"

#include <string>
#include <string_view>
#include <variant>

namespace vime {

/// "0F1"; an idle slot gives "".
std::string toText(const Task &task);

/// One line per rank, commas, idle slots empty, CRLF: byte for byte what PyTorch dumps.
std::string toCsv(const Schedule &order);

/// One line per rank in order of execution, columns aligned, `.` for an idle slot.
std::string toGrid(const Schedule &order);

/// The picture of the papers: every task stands at its start and is as wide as its cost.
///   rank 0  F0 F1 .  .  B0--- .  B1---
///   rank 1  .  F0 B0--- F1 B1--- .  .
/// Stages are left out where every rank holds one. A last line says where an order gets stuck.
std::string toTimeline(const Schedule &order, UnitCosts costs = {});

struct CsvError {
  int line;   // from 1, as editors count; the rank is line - 1
  int column; // of the cell's first character, from 1
  std::string message;
};

/// Reads what `toCsv` writes (LF is taken too) and infers the placement from the rows that the
/// stages stand in. Refuses everything else: cells that only begin well, transfers and other
/// actions of a lowered order, a stage on two ranks or missing, and a whole backward beside a split
/// one of the same stage and microbatch (PyTorch 2.5 wrote B for what is now I). Whether the order
/// is complete and legal is not judged here.
std::variant<Schedule, CsvError> parseCsv(std::string_view text);

} // namespace vime
