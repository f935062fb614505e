// Notation: orders as text, in PyTorch's grammar. Read back by OrderTable.h.
//
//   0F1  stage 0, microbatch 1: forward    0B1  whole backward
//   0I1  input gradient                    0W1  weight gradient     blank or `.`  idle slot
//   (2F1;3B0)OVERLAP_F_B  a pair; in grids 2F1&3B0
//
// Stages of two copies of a model are counted through, and so are slices: of 4 stages 5F3 is stage
// 1 of the second copy, of 4 slices 0F6 is slice 2 of microbatch 1. PyTorch has neither.
#pragma once

#include "schedules/Schedule.h"
#include "schedules/UnitTime.h"

#include <string>
#include <vector>

namespace vime {

struct OrderTable;

/// "0F1"; an idle slot gives "".
std::string toText(const Task &task);

/// The cells of one rank, as PyTorch writes them: a pair is one of them, an idle slot is "".
std::vector<std::string> toCells(const std::vector<Task> &row);

/// One line per rank, commas, idle slots empty, CRLF: byte for byte what PyTorch dumps.
std::string toCsv(const Schedule &order);

/// The same with the table's transfers and shards.
std::string toCsv(const OrderTable &table);

/// One line per rank in order of execution, columns aligned, `.` for an idle slot.
std::string toGrid(const Schedule &order);

/// The picture of the papers: every task stands at its start and is as wide as its cost, the
/// cheapest as narrow as may be.
///   rank 0  F0 F1 .  .  B0--- .  B1---
///   rank 1  .  F0 B0--- F1 B1--- .  .
/// The parts of a pair stand one behind the other. Stages are left out where every rank holds one,
/// of each copy; F1.2 is slice 2 of microbatch 1. A last line says where an order gets stuck.
std::string toTimeline(const Schedule &order, UnitCosts costs = {});

} // namespace vime
