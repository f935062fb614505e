// An order written as a table, for tests; a table that cannot be read fails the test.
#pragma once

#include "schedules/OrderTable.h"

#include <gtest/gtest.h>

namespace vime {

inline Schedule parsed(std::string_view text) {
  const auto table = readTable(text);
  if (const auto *problems = std::get_if<std::vector<TableProblem>>(&table)) {
    ADD_FAILURE() << problems->at(0).message;
    return {};
  }
  return std::get<OrderTable>(table).schedule();
}

} // namespace vime
