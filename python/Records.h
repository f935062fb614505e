// Records: what C++ knows of orders as plain Python values, which the package wraps in its types.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "schedules/Comparison.h"
#include "schedules/OrderTable.h"
#include "schedules/Registry.h"

namespace vime::python {

/// An order as Python holds it.
struct HeldOrder {
  OrderTable table;
  std::string text; // what its cells have their places in
};

/// (kind, stage, microbatch, overlaps_next) of each cell, or None for an idle slot.
pybind11::tuple rowsOf(const OrderTable &table);
/// What is in `rowsOf`; throws std::invalid_argument with what no table can hold.
OrderTable tableOfRows(const pybind11::sequence &rows, int copies, int slices);

pybind11::dict recordOf(const Order &order);
pybind11::dict recordOf(const OrderProblem &problem);
pybind11::dict recordOf(const ComparedOrder &compared);
/// Rank and number of the cell, and where it stands in the text.
pybind11::dict recordOf(const TablePlace &place, const OrderTable &table);
/// Findings about the cells of `text`, which is called `file`.
pybind11::list recordsOf(const Findings &findings, const OrderTable *table, const std::string &text,
                         const std::string &file);

/// Times, periods and bounds of an order that finishes; the bounds are those of training, so an
/// order without backwards has none.
pybind11::dict measured(const Schedule &order, UnitCosts costs);

template <typename Numbers> pybind11::tuple tupleOf(const Numbers &numbers) {
  pybind11::tuple all(numbers.size());
  for (std::size_t index = 0; index < numbers.size(); ++index)
    all[index] = numbers[index];
  return all;
}

} // namespace vime::python
