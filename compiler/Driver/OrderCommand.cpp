#include <fmt/format.h>
#include <iostream>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Frontend/OrderFile.h"
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
    table += fmt::format("  {:<12} {}; {}\n", order.name, order.summary, order.needs);
  return table;
}

namespace {

void print(const Schedule &schedule, const std::string &format) {
  if (format == "csv")
    std::cout << toCsv(schedule);
  else if (format == "rows")
    std::cout << toGrid(schedule);
  else
    std::cout << toTimeline(schedule);
}

int printTable(const OrderArguments &arguments, const OutputOptions &output) {
  for (const auto &[option, number] :
       {std::pair("--ranks", arguments.ranks), std::pair("--microbatches", arguments.microbatches),
        std::pair("--chunks", arguments.chunks)})
    if (number)
      return reportFailure(Status(StatusCode::Usage, fmt::format("`{}` is for an order by name, a "
                                                                 "table says it itself",
                                                                 option)),
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
  if (output.json)
    std::cout << toJson(printable(arguments.name), *table);
  else
    print(table->schedule(), arguments.format);
  return 0;
}

} // namespace

int runOrder(const OrderArguments &arguments, const OutputOptions &output) {
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
  const ScheduleShape shape =
      shapeFor(*order, *arguments.ranks, *arguments.microbatches, arguments.chunks);
  if (const auto problem = check(*order, shape))
    return reportFailure(Status(StatusCode::InvalidInput, problem->message), output, problem->help);
  const Schedule schedule = order->build(shape);
  if (output.json)
    std::cout << toJson(*order, shape, schedule);
  else
    print(schedule, arguments.format);
  return 0;
}

} // namespace vime
