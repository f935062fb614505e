// vimec verify TABLE.csv: the table by itself, then the plan that is made of it around a model that
// computes nothing.
#include <algorithm>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/OrderNotes.h"
#include "compiler/Frontend/OrderFile.h"
#include "compiler/Lowering/OrderPlan.h"
#include "compiler/Verify/Verify.h"
#include "compiler/Verify/VerifyOrder.h"
#include "runtime/Base/Counted.h"
#include "schedules/UnitTime.h"
#include "schedules/ZeroBubbleCell.h"

namespace vime {
namespace {

std::size_t actionsOf(const plan::Plan &plan) {
  std::size_t actions = 0;
  for (const plan::Program &program : plan.programs)
    actions += program.actions.size();
  return actions;
}

// Of each rank, or of many the least and the most.
std::string peaksOf(const UnitTimes &times) {
  constexpr std::size_t kShown = 16;
  const auto [least, most] = std::minmax_element(times.peakLive.begin(), times.peakLive.end());
  return times.peakLive.size() <= kShown ? fmt::format("{}", fmt::join(times.peakLive, " "))
                                         : fmt::format("{} to {}", *least, *most);
}

void printText(const std::string &path, const OrderTable &table, const plan::Plan &plan) {
  const Schedule order = table.schedule();
  const UnitTimes times = simulate(order);
  std::string text =
      fmt::format("{}: legal, {} on {}, {}\n", path, counted(order.placement.size(), "stage"),
                  counted(order.rows.size(), "rank"),
                  counted(static_cast<std::size_t>(table.microbatches()), "microbatch"));
  for (const ProvedOfOrder &proved : provedOfOrder(table))
    text += fmt::format("  {}  {}\n", nameOf(proved.rule), proved.sentence);
  std::vector<std::string_view> labels;
  for (const ProvedRule &proved : provedRules())
    labels.push_back(nameOf(proved.rule));
  text += fmt::format("  its plan of {} actions: {}\n", actionsOf(plan), fmt::join(labels, " "));
  text += fmt::format("  unit costs: makespan {}, bubble {:.1f}%, most activations alive on each "
                      "rank {}\n",
                      times.makespan, 100 * times.bubble, peaksOf(times));
  for (const std::string &note : notesOn(table))
    text += fmt::format("  note: {}\n", note);
  std::cerr << text;
}

void printJson(const std::string &path, const OrderTable &table, const plan::Plan &plan) {
  const Schedule order = table.schedule();
  const UnitTimes times = simulate(order);
  nlohmann::ordered_json json{
      {"errors", nlohmann::json::array()},    {"file", path},
      {"ranks", order.rows.size()},           {"stages", order.placement.size()},
      {"microbatches", table.microbatches()}, {"placement", order.placement}};
  for (const ProvedOfOrder &proved : provedOfOrder(table))
    json["proved"].push_back(nameOf(proved.rule));
  json["plan"]["actions"] = actionsOf(plan);
  for (const ProvedRule &proved : provedRules())
    json["plan"]["proved"].push_back(nameOf(proved.rule));
  json["unit_time"] = {{"makespan", times.makespan},
                       {"busy", times.busy},
                       {"bubble", times.bubble},
                       {"peak_live", times.peakLive}};
  json["notes"] = notesOn(table);
  std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

} // namespace

bool holdsTable(const std::string &path) {
  if (path == "-" || namesTable(path))
    return true;
  std::ifstream file(path, std::ios::binary);
  char beginning[32] = "";
  file.read(beginning, sizeof beginning - 1);
  const std::string_view cell = beginning;
  const char first = beginning[0];
  return first == ',' || first == '(' || ('0' <= first && first <= '9') ||
         isZeroBubbleCell(cell.substr(0, cell.find_first_of(",\r\n")));
}

int runVerifyOrder(const std::string &path, const OutputOptions &output) {
  const StatusOr<std::string> text = readTableFile(path);
  if (!text.ok())
    return reportFailure(text.status(), output);
  SourceCache sources;
  sources.add(path, *text);
  Findings findings;
  const std::optional<OrderTable> table = judgedTable(*text, path, findings);
  if (!table)
    return reportFindings(findings, sources, output);
  // A plan of any order from a table is named as one, so that its sums may have the table's order.
  const std::string name = namesTable(path) ? path : std::string("order") += kTableEnding;
  const std::optional<plan::Plan> plan =
      planOfOrder(table->schedule(), table->microbatches(), name, {}, findings);
  if (plan)
    verifyPlan(*plan, findings, path);
  if (findings.any())
    return reportFindings(findings, sources, output);
  if (output.json)
    printJson(path, *table, *plan);
  else
    printText(path, *table, *plan);
  return 0;
}

} // namespace vime
