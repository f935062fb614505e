// vimec schedules: what orders there are, and what each of them is worth for given numbers.
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Costs.h"
#include "compiler/Driver/TransferTable.h"
#include "runtime/Base/Counted.h"
#include "schedules/Comparison.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> optionsOf(const Takes &takes) {
  std::vector<std::string> options;
  for (const auto &[takesIt, option] :
       {std::pair(takes.group, "--group"), std::pair(takes.memory, "--memory"),
        std::pair(takes.slices, "--slices"), std::pair(takes.overlap, "--overlap"),
        std::pair(takes.costs, "--costs")})
    if (takesIt)
      options.emplace_back(option);
  return options;
}

std::string chunksOf(const Order &order) {
  const auto &[least, most, usual] = order.chunks;
  return least == most
             ? counted(static_cast<std::uint64_t>(usual), "stage") + " per rank"
             : fmt::format("{} to {} stages per rank, {} if not stated", least, most, usual);
}

std::string unitsText(const Order &order) {
  const OrderUnits units = unitsOf(order);
  std::string text = !order.trains  ? "F"
                     : units.splits ? "F, and backwards in two: I, W"
                                    : "F, whole backwards B";
  if (units.pairs)
    text += order.takes.overlap ? "; with --overlap in pairs" : "; in pairs";
  if (units.copies > 1)
    text += fmt::format("; on {} copies of the weights", units.copies);
  if (order.takes.slices || units.slices > 1)
    text += "; of slices of a sequence";
  return text;
}

std::string listText() {
  std::string text;
  for (const Order &order : allOrders()) {
    text += fmt::format("{:<16} {}\n", order.name, order.summary);
    const std::vector<std::string> options = optionsOf(order.takes);
    for (const auto &[key, value] :
         {std::pair<std::string_view, std::string>(
              "placement", fmt::format("{}, {}", order.placement, chunksOf(order))),
          {"tasks", unitsText(order)},
          {"takes", fmt::format("{}", fmt::join(options, ", "))},
          {"needs", std::string(order.needs)},
          {"bubble", std::string(order.bubble)},
          {"activations", std::string(order.peak)},
          {"source", std::string(order.source)}})
      if (!value.empty())
        text += fmt::format("  {:<14} {}\n", key, value);
  }
  return text +
         "\np ranks, m microbatches, v stages per rank; F forward, B whole backward, I and W "
         "its input and weight gradient,\nof a rank's whole share; activations of the "
         "fullest rank, a microbatch that of its whole share\n";
}

Json recordOf(const Order &order) {
  const OrderUnits units = unitsOf(order);
  return {
      {"name", order.name},
      {"summary", order.summary},
      {"placement", order.placement},
      {"chunks",
       {{"least", order.chunks.least}, {"most", order.chunks.most}, {"usual", order.chunks.usual}}},
      {"trains", order.trains},
      {"splits_backward", units.splits},
      {"pairs", units.pairs},
      {"copies", units.copies},
      {"options", optionsOf(order.takes)},
      {"needs", order.needs},
      {"bubble", order.bubble},
      {"peak", order.peak},
      {"source", order.source}};
}

int printList(const OutputOptions &output) {
  if (!output.json) {
    std::cout << listText();
    return 0;
  }
  Json all = Json::array();
  for (const Order &order : allOrders())
    all.push_back(recordOf(order));
  std::cout << Json{{"schedules", all}}.dump(2) << "\n";
  return 0;
}

// At most two places, and none that say nothing: 258, 7.5, 1.33.
std::string shortly(double number) {
  std::string text = fmt::format("{:.2f}", number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.'))
    text.pop_back();
  return text;
}

// "+3.1% L2": above which bound.
std::string gapText(double gap, std::string_view label) {
  return gap < 5e-5 ? fmt::format("optimal {}", label)
                    : fmt::format("+{:.1f}% {}", 100 * gap, label);
}

std::string rowOf(const ComparedOrder &compared) {
  const ComparedFigures &figures = *compared.figures;
  // Of tasks one behind the other; nothing of the like is known where pairs save time.
  const auto apart = [&](const std::string &text) { return figures.hasPairs ? "-" : text; };
  const auto jitter = [&](double growth) { return apart(fmt::format("{:.1f}%", 100 * growth)); };
  return fmt::format(
      "{:<16}{:>3}{:>10}{:>9}{:>8.1f}%{:>7}{:>3} {:>9}{:>12}{:>8}  {:>9}{:>12}{:>8}\n",
      compared.order->name, compared.shape.chunks, shortly(figures.makespan),
      apart(shortly(figures.span)), 100 * figures.bubble, shortly(figures.peak), figures.copies,
      shortly(figures.periods.barrier), apart(gapText(figures.gap.barrier, figures.bindsBarrier)),
      jitter(figures.growth.barrier), shortly(figures.periods.postValidated),
      apart(gapText(figures.gap.postValidated, figures.bindsPostValidated)),
      jitter(figures.growth.postValidated));
}

constexpr const char *kLegend = R"(
v stages per rank; peak: activations of a rank's whole share; w copies of the weights; bubble: of the period with a barrier
to bound: above what no order of the same stages and memory can undercut: L1 start, L2 warm-up, L3 Little's law, L4 drain
jitter: what the period grows by where tasks take up to 10 % more or less)";

std::string comparisonText(const ComparedShape &shape, const std::vector<ComparedOrder> &all) {
  const auto &[forward, input, weight, transfer] = shape.costs;
  std::string text = fmt::format(
      "{} ranks, {} microbatches; of a rank's whole share F {}, I {}, W {}, a transfer {}\n\n"
      "{:<16}{:>3}{:>10}{:>9}{:>9}{:>7}{:>3} {:>29}  {:>29}\n"
      "{:<16}{:>3}{:>10}{:>9}{:>9}{:>7}{:>3} {:>9}{:>12}{:>8}  {:>9}{:>12}{:>8}\n",
      shape.ranks, shape.microbatches, forward, input, weight, transfer, "", "", "", "longest", "",
      "", "", "step with a barrier", "step post-validated", "order", "v", "makespan", "span",
      "bubble", "peak", "w", "period", "to bound", "jitter", "period", "to bound", "jitter");
  std::string refused;
  for (const ComparedOrder &compared : all)
    if (compared.exceedsMemory)
      refused += fmt::format("  `{}` keeps {} activations alive, more than {}\n",
                             compared.order->name, shortly(compared.figures->peak), *shape.memory);
    else if (compared.figures)
      text += rowOf(compared);
    else
      refused += fmt::format("  {}; {}\n", compared.problem->message, compared.problem->help);
  if (!refused.empty())
    text += "\nnot for these numbers:\n" + refused;
  return text + kLegend +
         (shape.pair ? fmt::format("\npairs run together and take {:g} of the time of their tasks, "
                                   "in makespan, bubble and periods; where orders have pairs, the "
                                   "other columns are left out\n",
                                   *shape.pair)
                     : "; the tasks of a pair run one after the other\n");
}

Json periodsJson(double period, double gap, std::string_view bound, double growth, bool hasPairs) {
  return {{"period", period},
          {"gap", hasPairs ? Json() : Json(gap)},
          {"bound", hasPairs ? Json() : Json(bound)},
          {"jitter", hasPairs ? Json() : Json(growth)}};
}

Json comparisonJson(const ComparedShape &shape, const std::vector<ComparedOrder> &all) {
  const auto &[forward, input, weight, transfer] = shape.costs;
  Json orders = Json::array();
  for (const ComparedOrder &compared : all) {
    Json entry{{"name", compared.order->name}, {"chunks", compared.shape.chunks}};
    if (compared.problem) {
      entry["refused"] = {{"message", compared.problem->message}, {"help", compared.problem->help}};
    } else {
      const ComparedFigures &figures = *compared.figures;
      entry.update(
          {{"makespan", figures.makespan},
           {"span", figures.hasPairs ? Json() : Json(figures.span)},
           {"bubble", figures.bubble},
           {"peak", figures.peak},
           {"exceeds_memory", compared.exceedsMemory},
           {"copies", figures.copies},
           {"barrier", periodsJson(figures.periods.barrier, figures.gap.barrier,
                                   figures.bindsBarrier, figures.growth.barrier, figures.hasPairs)},
           {"post_validated", periodsJson(figures.periods.postValidated, figures.gap.postValidated,
                                          figures.bindsPostValidated, figures.growth.postValidated,
                                          figures.hasPairs)}});
    }
    orders.push_back(std::move(entry));
  }
  return {{"ranks", shape.ranks},
          {"microbatches", shape.microbatches},
          {"costs", {forward, input, weight, transfer}},
          {"pairs", shape.pair ? Json(*shape.pair) : Json()},
          {"memory", shape.memory ? Json(*shape.memory) : Json()},
          {"schedules", orders}};
}

int noOrderTakes(const ComparedShape &shape, const Order &first, const OutputOptions &output) {
  const auto problem = check(first, shapeOf(first, shape));
  return reportFailure(
      Status(StatusCode::InvalidInput, fmt::format("no order takes {} ranks and {} microbatches",
                                                   shape.ranks, shape.microbatches)),
      output, problem ? problem->message : "");
}

int printComparison(const ComparedShape &shape, const OutputOptions &output) {
  const std::vector<ComparedOrder> all = compareOrders(shape);
  if (!all.front().figures)
    return noOrderTakes(shape, *all.front().order, output);
  if (output.json)
    std::cout << comparisonJson(shape, all).dump(2) << "\n";
  else
    std::cout << comparisonText(shape, all);
  return 0;
}

int printTransfers(const ComparedShape &shape, const OutputOptions &output) {
  if (shape.costs.transfer == 0)
    return reportFailure(Status(StatusCode::Usage, "`--slots` compares transfers, which are free"),
                         output, "give what one costs as well: `--costs 10,12,8,1`");
  const std::vector<ComparedTransfers> all = compareTransfers(shape);
  if (all.empty())
    return noOrderTakes(shape, allOrders().front(), output);
  std::cout << (output.json ? transferJson(shape, all) : transferText(shape, all));
  return 0;
}

} // namespace

int runSchedules(const SchedulesArguments &arguments, const OutputOptions &output) {
  const bool compares = arguments.ranks && arguments.microbatches;
  if (!compares &&
      (arguments.ranks || arguments.microbatches || arguments.chunks || arguments.memory ||
       !arguments.costs.empty() || arguments.pairs || arguments.slots))
    return reportFailure(Status(StatusCode::Usage, arguments.ranks ? "`--microbatches` is required"
                                                                   : "`--ranks` is required"),
                         output, "a comparison needs `--ranks` and `--microbatches`");
  if (!compares)
    return printList(output);
  const ComparedShape shape{.ranks = *arguments.ranks,
                            .microbatches = *arguments.microbatches,
                            .costs = readCosts(arguments.costs).value_or(UnitCosts{}),
                            .chunks = arguments.chunks,
                            .memory = arguments.memory,
                            .pair = arguments.pairs};
  return arguments.slots ? printTransfers(shape, output) : printComparison(shape, output);
}

} // namespace vime
