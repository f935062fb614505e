// What the reader of a table should know: how it was understood, and what of it a plan does not
// keep.
#pragma once

#include <string>
#include <vector>

#include "compiler/Frontend/Job.h"
#include "schedules/OrderTable.h"

namespace vime {

std::vector<std::string> notesOn(const OrderTable &table);
/// How its cells were understood, of those alone.
std::vector<std::string> notesOnNotation(const OrderTable &table);
/// On the table that a legal job names; none for an order by name.
std::vector<std::string> notesOn(const Job &job);

} // namespace vime
