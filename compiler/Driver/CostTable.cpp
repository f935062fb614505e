// The costs of a plan on a machine, for people and for programs: each with its origin.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Driver/PlanCosts.h"
#include "compiler/Machine/FigureText.h"

namespace vime {
namespace {

std::string workText(const Work &work) {
  std::string text;
  if (work.flops > 0)
    text = printFigure(FigureKind::Flops, work.flops);
  if (work.bytes > 0)
    text += (text.empty() ? "" : ", ") + printFigure(FigureKind::Bandwidth, work.bytes);
  for (std::size_t at; (at = text.find("/s")) != text.npos;)
    text.erase(at, 2); // an amount, not a rate
  return text;
}

} // namespace

std::string costTable(const PlanCosts &costs) {
  if (costs.rows.empty() && costs.notes.empty())
    return {};
  std::size_t of = 0, what = 0, time = 0, work = 0;
  for (const CostRow &row : costs.rows) {
    of = std::max(of, row.of.size());
    what = std::max(what, row.what.size());
    time = std::max(time, costs.show(row.nanoseconds).size());
    work = std::max(work, workText(row.work).size());
  }
  std::string text = "\n";
  for (const CostRow &row : costs.rows)
    text += fmt::format("  {:<{}}  {:<{}}  {:>{}} {}  {:<{}}  {}\n", row.of, of, row.what, what,
                        costs.show(row.nanoseconds), time, costs.unit, workText(row.work), work,
                        row.origin);
  if (!costs.figures.empty())
    text += "\n";
  for (const std::string &figure : costs.figures)
    text += fmt::format("  {}\n", figure);
  for (const std::string &note : costs.notes)
    text += fmt::format("\nnote: {}\n", note);
  return text;
}

std::string costRowsJson(const PlanCosts &costs) {
  auto rows = nlohmann::ordered_json::array();
  for (const CostRow &row : costs.rows)
    rows.push_back({{"of", row.of},
                    {"what", row.what},
                    {"seconds", static_cast<double>(row.nanoseconds) / 1e9},
                    {"flops", row.work.flops},
                    {"bytes", row.work.bytes},
                    {"origin", row.origin}});
  return nlohmann::ordered_json{{"rows", rows}, {"figures", costs.figures}}.dump(
      2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace vime
