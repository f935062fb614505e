// vime._core: the orders of schedules/ and the judge of compiler/Verify for Python. What is wrong
// comes back as a record; the package makes exceptions of it.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Verify/VerifyOrder.h"
#include "python/Records.h"
#include "schedules/Notation.h"
#include "schedules/TorchLowering.h"
#include "schedules/UnitTime.h"

namespace py = pybind11;

namespace vime::python {
namespace {

using Costs = std::array<int, 4>; // F, I, W, a transfer

UnitCosts costsOf(const Costs &costs) { return {costs[0], costs[1], costs[2], costs[3]}; }

HeldOrder held(OrderTable table) {
  std::string text = toCsv(table);
  return {std::move(table), std::move(text)};
}

py::list rules() {
  py::list all;
  for (const Order &order : allOrders())
    all.append(recordOf(order));
  return all;
}

py::object nearestName(const std::string &name) {
  const auto nearest = nearestOrderName(name);
  return nearest ? py::object(py::str(std::string(*nearest))) : py::object(py::none());
}

/// An order, or the record of an `OrderProblem`; None if the name is unknown.
py::object build(const std::string &name, int ranks, int microbatches, std::optional<int> chunks,
                 int group, int memory, int slices, bool overlap, std::optional<Costs> costs) {
  const Order *order = findOrder(name);
  if (order == nullptr)
    return py::none();
  ScheduleShape shape = shapeFor(*order, ranks, microbatches, chunks);
  shape.group = group;
  shape.memory = memory;
  shape.slices = slices;
  shape.overlap = overlap;
  if (costs)
    shape.costs = costsOf(*costs);
  if (const auto problem = check(*order, shape))
    return recordOf(*problem);
  HeldOrder built;
  {
    const py::gil_scoped_release released;
    built = held(tableOf(order->build(shape)));
  }
  return py::cast(std::move(built));
}

/// An order, or records of the cells that cannot be read.
py::object readText(const std::string &text, const std::string &placement,
                    const std::string &file) {
  auto table = readTable(text, placement);
  if (auto *order = std::get_if<OrderTable>(&table))
    return py::cast(HeldOrder{std::move(*order), text});
  Findings findings;
  for (const TableProblem &problem : std::get<std::vector<TableProblem>>(table))
    findings.error(Rule::J, number(JobCode::OrderCell), problem.message)
        .at({file, problem.place.line, problem.place.column, problem.place.length})
        .withHelp(problem.help);
  return recordsOf(findings, nullptr, text, file);
}

py::list verified(const HeldOrder &order, const std::string &file) {
  Findings findings;
  {
    const py::gil_scoped_release released;
    verifyOrder(order.table, file, findings);
  }
  return recordsOf(findings, &order.table, order.text, file);
}

std::optional<std::string> stuckAt(const HeldOrder &order) {
  const UnitTimes times = simulate(order.table.schedule());
  return times.stuck ? std::optional(times.stuck->message) : std::nullopt;
}

py::tuple startsOf(const HeldOrder &order, const Costs &costs) {
  const UnitTimes times = simulate(order.table.schedule(), costsOf(costs));
  py::tuple rows(times.start.size());
  for (std::size_t rank = 0; rank < times.start.size(); ++rank) {
    py::list starts;
    for (const std::int64_t start : times.start[rank])
      starts.append(start < 0 ? py::object(py::none()) : py::object(py::int_(start)));
    rows[rank] = py::tuple(starts);
  }
  return rows;
}

std::string gridOf(const HeldOrder &order, const Costs &costs) {
  constexpr std::int64_t kWidest = 100'000; // in tasks of the least cost
  const Schedule schedule = order.table.schedule();
  const std::int64_t width = simulate(schedule, costsOf(costs)).makespan /
                             *std::min_element(costs.begin(), costs.begin() + 3);
  if (width > kWidest)
    throw std::invalid_argument("the picture would be " + std::to_string(width) +
                                " of the cheapest tasks wide, at most " + std::to_string(kWidest) +
                                " are drawn");
  return toTimeline(schedule, costsOf(costs));
}

py::list compared(int ranks, int microbatches, const Costs &costs, std::optional<int> chunks,
                  std::optional<int> memory) {
  std::vector<ComparedOrder> all;
  {
    const py::gil_scoped_release released;
    all = compareOrders({ranks, microbatches, costsOf(costs), chunks, memory});
  }
  py::list records;
  for (const ComparedOrder &entry : all)
    records.append(recordOf(entry));
  return records;
}

} // namespace
} // namespace vime::python

PYBIND11_MODULE(_core, module) {
  using namespace vime;
  using namespace vime::python;
  module.def("rules", &rules);
  module.def("nearest_name", &nearestName);
  module.def("build", &build);
  module.def("read", &readText);
  module.def("compare", &compared);
  module.def("make", [](const py::sequence &rows, int copies, int slices) {
    return held(tableOfRows(rows, copies, slices));
  });
  py::class_<HeldOrder>(module, "Order")
      .def_property_readonly("ranks",
                             [](const HeldOrder &order) { return order.table.rows.size(); })
      .def_property_readonly("copies", [](const HeldOrder &order) { return order.table.copies; })
      .def_property_readonly("slices", [](const HeldOrder &order) { return order.table.slices; })
      .def_property_readonly("stages", [](const HeldOrder &order) { return order.table.stages(); })
      .def_property_readonly("microbatches",
                             [](const HeldOrder &order) { return order.table.microbatches(); })
      .def_property_readonly("is_old", [](const HeldOrder &order) { return order.table.isOld; })
      .def_property_readonly("text", [](const HeldOrder &order) { return order.text; })
      .def("placement",
           [](const HeldOrder &order) { return tupleOf(order.table.schedule().placement); })
      .def("rows", [](const HeldOrder &order) { return rowsOf(order.table); })
      .def("csv", [](const HeldOrder &order) { return toCsv(order.table); })
      .def("grid", &gridOf)
      .def("beyond_torch",
           [](const HeldOrder &order) { return beyondTorch(order.table.schedule()); })
      .def("lowered",
           [](const HeldOrder &order, bool shards) {
             const Schedule schedule = order.table.schedule();
             return held(shards ? withShards(schedule) : withTransfers(schedule));
           })
      .def("verify", &verified)
      .def("standstill",
           [](const HeldOrder &order) {
             py::list places;
             for (const TableEntry &entry : standstillAsWritten(order.table))
               places.append(recordOf(entry.place, order.table));
             return places;
           })
      .def("sums_out_of_order",
           [](const HeldOrder &order) {
             return tupleOf(stagesThatSumOutOfOrder(order.table.schedule()));
           })
      .def("stuck", &stuckAt)
      .def("starts", &startsOf)
      .def("measure", [](const HeldOrder &order, const Costs &costs) {
        return measured(order.table.schedule(), costsOf(costs));
      });
}
