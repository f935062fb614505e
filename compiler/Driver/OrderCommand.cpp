#include <fmt/format.h>
#include <iostream>

#include "compiler/Driver/Commands.h"
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

int runOrder(const OrderArguments &arguments, const OutputOptions &output) {
  const Order *order = findOrder(arguments.name);
  if (order == nullptr) {
    const auto nearest = nearestOrderName(arguments.name);
    return reportFailure(
        Status(StatusCode::InvalidInput, "unknown order `" + arguments.name + "`"), output,
        nearest ? "did you mean `" + std::string(*nearest) + "`? known are " + listOfNames()
                : "known are " + listOfNames());
  }
  const ScheduleShape shape =
      shapeFor(*order, arguments.ranks, arguments.microbatches, arguments.chunks);
  if (const auto problem = check(*order, shape))
    return reportFailure(Status(StatusCode::InvalidInput, problem->message), output, problem->help);
  const Schedule schedule = order->build(shape);
  if (output.json)
    std::cout << toJson(*order, shape, schedule);
  else if (arguments.format == "csv")
    std::cout << toCsv(schedule);
  else if (arguments.format == "rows")
    std::cout << toGrid(schedule);
  else
    std::cout << toTimeline(schedule);
  return 0;
}

} // namespace vime
