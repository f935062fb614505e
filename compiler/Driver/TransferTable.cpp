#include "compiler/Driver/TransferTable.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

// "+0.6%" above the time in which transfers hold nobody.
std::string cost(const std::optional<double> &time, double dataflow) {
  return time ? fmt::format("{:+.1f}%", 100 * (*time / dataflow - 1)) : "never";
}

std::string rowOf(const ComparedTransfers &entry) {
  std::string row =
      fmt::format("{:<16}{:>3}{:>12.2f}", entry.order->name, entry.chunks, entry.dataflow);
  for (const std::optional<double> &time : entry.withSlots)
    row += fmt::format("{:>9}", cost(time, entry.dataflow));
  return row + fmt::format("{:>11}{:>8}{:>10}\n", cost(entry.late, entry.dataflow), entry.enough,
                           entry.channels * entry.enough);
}

} // namespace

std::string transferText(const ComparedShape &shape, const std::vector<ComparedTransfers> &all) {
  const auto &[forward, input, weight, transfer] = shape.costs;
  std::string text = fmt::format(
      "{} ranks, {} microbatches; of a rank's whole share F {}, I {}, W {}, a transfer {}\n\n"
      "{:<16}{:>3}{:>12}{:>9}{:>9}{:>9}{:>9}{:>11}{:>8}{:>10}\n",
      shape.ranks, shape.microbatches, forward, input, weight, transfer, "order", "v", "dataflow",
      "1 slot", "2 slots", "3 slots", "4 slots", "late", "enough", "messages");
  for (const ComparedTransfers &entry : all)
    text += rowOf(entry);
  return text +
         "\ndataflow: the makespan if transfers held nobody; the others are above it\nslots: on "
         "the "
         "receiving end of every channel, the transfer as early as one is free; late: the receive "
         "just before its task\nenough: the fewest slots within 1 % of the best; messages: what "
         "they hold on the rank with most channels\n";
}

std::string transferJson(const ComparedShape &shape, const std::vector<ComparedTransfers> &all) {
  const auto &[forward, input, weight, transfer] = shape.costs;
  Json orders = Json::array();
  for (const ComparedTransfers &entry : all) {
    Json slots = Json::array();
    for (const std::optional<double> &time : entry.withSlots)
      slots.push_back(time ? Json(*time) : Json());
    orders.push_back({{"name", entry.order->name},
                      {"chunks", entry.chunks},
                      {"dataflow", entry.dataflow},
                      {"slots", slots},
                      {"late", entry.late},
                      {"enough", entry.enough},
                      {"channels", entry.channels}});
  }
  return Json{{"ranks", shape.ranks},
              {"microbatches", shape.microbatches},
              {"costs", {forward, input, weight, transfer}},
              {"schedules", orders}}
             .dump(2) +
         '\n';
}

} // namespace vime
