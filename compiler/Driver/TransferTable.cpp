#include "compiler/Driver/TransferTable.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

// "+0.6%" above the time in which transfers hold nobody.
std::string cost(const std::optional<double> &time, double dataflow) {
  return time ? fmt::format("{:+.1f}%", 100 * (*time / dataflow - 1)) : "stuck";
}

std::string rowOf(const ComparedTransfers &entry) {
  std::string row =
      fmt::format("{:<16}{:>3}{:>12.2f}", entry.order->name, entry.chunks, entry.dataflow);
  for (const std::optional<double> &time : entry.withSlots)
    row += fmt::format("{:>9}", cost(time, entry.dataflow));
  row += fmt::format("{:>8}{:>6}", entry.chosen, entry.held);
  for (const auto &placed : {entry.early, entry.deferred})
    row += placed ? fmt::format("{:>11}{:>6}", cost(placed->time, entry.dataflow), placed->held)
                  : fmt::format("{:>11}{:>6}", "-", "-");
  return row + (entry.early ? fmt::format("{:>9}\n", entry.buffers) : fmt::format("{:>9}\n", "-"));
}

Json recordOf(const std::optional<ComparedTransfers::Placed> &placed) {
  if (!placed)
    return {};
  return {{"time", placed->time ? Json(*placed->time) : Json()}, {"held", placed->held}};
}

} // namespace

std::string transferText(const ComparedShape &shape, const std::vector<ComparedTransfers> &all) {
  const auto &[forward, input, weight, transfer] = shape.costs;
  std::string text = fmt::format(
      "{} ranks, {} microbatches; of a rank's whole share F {}, I {}, W {}, a transfer {}\n\n"
      "{:<16}{:>3}{:>12}{:>9}{:>9}{:>9}{:>9}{:>8}{:>6}{:>11}{:>6}{:>11}{:>6}{:>9}\n",
      shape.ranks, shape.microbatches, forward, input, weight, transfer, "order", "v", "dataflow",
      "1 slot", "2 slots", "3 slots", "4 slots", "chosen", "held", "PyTorch", "held", "deferred",
      "held", "buffers");
  for (const ComparedTransfers &entry : all)
    text += rowOf(entry);
  return text +
         "\ndataflow: the makespan if transfers held nobody; the others are above it\n"
         "slots: on the receiving end of every channel; chosen: those that a plan gets by itself\n"
         "PyTorch: a receive where its sender sends; deferred: just before its task; both with one "
         "queue for each pair of ranks, stuck: never ends if a message passes only while both ends "
         "wait for it\n"
         "held: places for received messages, on the rank that has most\n"
         "buffers: of PyTorch's, one for each message of a step, all the time\n";
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
                      {"chosen", entry.chosen},
                      {"held", entry.held},
                      {"pytorch", recordOf(entry.early)},
                      {"pytorch_deferred", recordOf(entry.deferred)},
                      {"pytorch_buffers", entry.early ? Json(entry.buffers) : Json()}});
  }
  return Json{{"ranks", shape.ranks},
              {"microbatches", shape.microbatches},
              {"costs", {forward, input, weight, transfer}},
              {"schedules", orders}}
             .dump(2) +
         '\n';
}

} // namespace vime
