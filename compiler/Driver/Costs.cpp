#include "compiler/Driver/Costs.h"

#include <charconv>

#include <CLI/CLI.hpp>

#include "compiler/Diagnostics/Utf8.h"
#include "runtime/CommandLine/Arguments.h"
#include "schedules/Limits.h"

namespace vime {

std::optional<UnitCosts> readCosts(std::string_view text) {
  UnitCosts costs;
  int *const all[] = {&costs.forward, &costs.backwardInput, &costs.backwardWeight, &costs.transfer};
  const char *next = text.data(), *const end = next + text.size();
  for (int *const cost : all) {
    const auto [behind, error] = std::from_chars(next, end, *cost);
    if (error != std::errc() || *cost < (cost == &costs.transfer ? 0 : 1) || *cost > kMaxCost)
      return std::nullopt;
    if (behind == end)
      return cost >= &costs.backwardWeight ? std::optional(costs) : std::nullopt;
    if (*behind != ',')
      return std::nullopt;
    next = behind + 1;
  }
  return std::nullopt;
}

CLI::Option *takesCosts(CLI::Option *option) {
  return option->type_name("F,I,W[,TRANSFER]")->check([](const std::string &text) {
    return readCosts(text) ? std::string()
                           : "takes what a forward, an input gradient and a weight gradient cost, "
                             "and maybe a transfer, in whole numbers, not `" +
                                 printable(text) + "`\nwrite `--costs 10,12,8`";
  });
}

CLI::Option *takesCostChoice(CLI::App &verb, CostChoice &choice) {
  CLI::Option *costs = takesCosts(
      verb.add_option("--costs", choice.costs,
                      "what tasks of each stage cost, in units (default: as long as stages sleep; "
                      "of others 1,1,1)"));
  CLI::Option *machine = verb.add_option(
      "--machine", choice.machine,
      "machine that the plan is to run on, by name (`vimec machines` lists them) or a "
      "file: costs follow from its figures, or from what `vimec calibrate` measured");
  takesName(machine, "MACHINE|FILE.yaml")->excludes(costs);
  return costs;
}

} // namespace vime
