// verifyOrder: whether the table of an order is legal, judged on the cells alone, before anything
// is made of it.
//
//   Findings findings;
//   verifyOrder(table, "mine.csv", findings);
//   if (!findings.any())
//     for (const ProvedOfOrder &proved : provedOfOrder(table))
//       print(proved.sentence);
//
// S3: every stage is on one rank. S1: every stage runs every microbatch forward once, and backward
// once, whole or in two parts. S2: nothing stands before what it needs, along every row and across
// them. Where the table holds transfers and shards, they are those that its tasks need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "schedules/OrderTable.h"

namespace vime {

/// Adds a finding for each independent way in which the table breaks a rule, a few of each code.
void verifyOrder(const OrderTable &table, const std::string &file, Findings &findings);

struct ProvedOfOrder {
  Rule rule;
  std::string_view sentence;
};

/// What holds of a table without findings.
std::vector<ProvedOfOrder> provedOfOrder(const OrderTable &table);

/// Where ranks would stand still for ever, the transfer of each rank of one circle, were the table
/// run as it is written: one cell after the other, every send until it is received. Empty if all of
/// it would finish. Plans never do this, they order transfers anew. Of a table without findings.
std::vector<TableEntry> standstillAsWritten(const OrderTable &table);

/// Stages, ascending, whose weight gradients do not add up in ascending microbatch: legal, but the
/// sums round differently from those of orders that do.
std::vector<int> stagesThatSumOutOfOrder(const Schedule &order);

} // namespace vime
