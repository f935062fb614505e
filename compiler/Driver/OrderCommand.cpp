#include <fmt/format.h>
#include <iostream>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Costs.h"
#include "compiler/Driver/TorchTable.h"
#include "compiler/Frontend/OrderFile.h"
#include "schedules/MergeBackwards.h"
#include "schedules/Notation.h"
#include "schedules/OrderJson.h"
#include "schedules/Registry.h"

namespace vime {

namespace {

std::string listOfNames() {
  std::string names;
  for (const std::string_view name : orderNames())
    names += (names.empty() ? "`" : ", `") + std::string(name) + "`";
  return names;
}

} // namespace

std::string orderTable() {
  std::string table;
  for (const Order &order : allOrders())
    table += fmt::format("  {:<14} {}; {}\n", order.name, order.summary, order.needs);
  return table;
}

namespace {

Merging mergingOf(const OrderArguments &arguments) {
  return arguments.mergeBackwards == "all"    ? Merging::All
         : arguments.mergeBackwards == "auto" ? Merging::WhereItPays
                                              : Merging::Nowhere;
}

int print(const Schedule &schedule, const OrderArguments &arguments, UnitCosts costs,
          const OutputOptions &output) {
  if (arguments.format == "csv")
    return printTorchTable(arguments.name, schedule, arguments.with, output);
  if (arguments.format == "rows")
    std::cout << toGrid(schedule);
  else
    std::cout << toTimeline(schedule, costs);
  return 0;
}

/// The option that says what a table says itself, if one was given.
std::optional<std::string> optionBesideTable(const OrderArguments &arguments) {
  for (const auto &[option, number] :
       {std::pair("--ranks", arguments.ranks), std::pair("--microbatches", arguments.microbatches),
        std::pair("--chunks", arguments.chunks), std::pair("--group", arguments.group),
        std::pair("--memory", arguments.memory), std::pair("--slices", arguments.slices)})
    if (number)
      return option;
  return arguments.overlap ? std::optional<std::string>("--overlap") : std::nullopt;
}

int printTable(const OrderArguments &arguments, const OutputOptions &output) {
  if (const auto option = optionBesideTable(arguments))
    return reportFailure(
        Status(StatusCode::Usage,
               fmt::format("`{}` is for an order by name, a table says it itself", *option)),
        output);
  const StatusOr<std::string> text = readTableFile(arguments.name);
  if (!text.ok())
    return reportFailure(text.status(), output);
  SourceCache sources;
  sources.add(arguments.name, *text);
  Findings findings;
  const std::optional<OrderTable> table = judgedTable(*text, arguments.name, findings);
  if (!table)
    return reportFindings(findings, sources, output);
  const UnitCosts costs = readCosts(arguments.costs).value_or(UnitCosts{});
  const Schedule merged = mergeBackwards(table->schedule(), mergingOf(arguments), costs);
  if (!output.json)
    return print(merged, arguments, costs, output);
  const bool isSame = mergingOf(arguments) == Merging::Nowhere; // with its transfers, if it has any
  std::cout << toJson(printable(arguments.name), isSame ? *table : tableOf(merged), costs);
  return 0;
}

/// What an order has a use for is stated to it; the costs go to the clock in any case.
ScheduleShape shapeOf(const Order &order, const OrderArguments &arguments, UnitCosts costs) {
  ScheduleShape shape =
      shapeFor(order, *arguments.ranks, *arguments.microbatches, arguments.chunks);
  shape.group = arguments.group.value_or(shape.group);
  shape.memory = arguments.memory.value_or(shape.memory);
  shape.slices = arguments.slices.value_or(shape.slices);
  shape.overlap = arguments.overlap;
  if (order.takes.costs)
    shape.costs = costs;
  return shape;
}

} // namespace

int runOrder(const OrderArguments &arguments, const OutputOptions &output) {
  if (!arguments.with.empty() && (arguments.format != "csv" || output.json))
    return reportFailure(
        Status(StatusCode::Usage, "`--with` says what stands in a table of PyTorch's notation"),
        output, "add `--format=csv`");
  if (namesTable(arguments.name))
    return printTable(arguments, output);
  const Order *order = findOrder(arguments.name);
  if (order == nullptr) {
    const auto nearest = nearestOrderName(arguments.name);
    const std::string known = "known are " + listOfNames() + ", and files ending in `.csv`";
    return reportFailure(
        Status(StatusCode::InvalidInput, "unknown order `" + arguments.name + "`"), output,
        nearest ? "did you mean `" + std::string(*nearest) + "`? " + known : known);
  }
  if (!arguments.ranks || !arguments.microbatches)
    return reportFailure(Status(StatusCode::Usage, arguments.ranks ? "`--microbatches` is required"
                                                                   : "`--ranks` is required"),
                         output, "an order by name needs `--ranks` and `--microbatches`");
  const UnitCosts costs = readCosts(arguments.costs).value_or(UnitCosts{});
  const ScheduleShape shape = shapeOf(*order, arguments, costs);
  if (const auto problem = check(*order, shape))
    return reportFailure(Status(StatusCode::InvalidInput, problem->message), output, problem->help);
  const Schedule schedule = mergeBackwards(order->build(shape), mergingOf(arguments), costs);
  if (!output.json)
    return print(schedule, arguments, costs, output);
  std::cout << toJson(*order, shape, schedule, costs);
  return 0;
}

} // namespace vime
