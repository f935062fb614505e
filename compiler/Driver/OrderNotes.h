// What the reader of an order should know: how its table was understood, what of it a plan does not
// keep, and what makes its sums others.
#pragma once

#include <string>
#include <vector>

#include "compiler/Frontend/Job.h"
#include "schedules/OrderTable.h"

namespace vime {

std::vector<std::string> notesOn(const OrderTable &table);
/// How its cells were understood, and what comes of them in PyTorch's notation, which has no groups
/// of transfers.
std::vector<std::string> notesOnImport(OrderTable table);
/// On the order that a legal job names.
std::vector<std::string> notesOn(const Job &job);

} // namespace vime
