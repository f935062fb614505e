// vimec diff: what is different between two jobs, plans, orders or traces, and what it changes.
#include <iostream>

#include <fmt/format.h>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Difference.h"

namespace vime {
namespace {

StatusOr<Difference> differenceOf(InputKind kind, const DiffArguments &arguments,
                                  const CostBasis &basis, Findings &findings,
                                  SourceCache &sources) {
  switch (kind) {
  case InputKind::Job:
    return differenceOfJobs(arguments, findings, sources);
  case InputKind::Table:
    return differenceOfOrders(arguments, findings, sources);
  case InputKind::Trace:
    return differenceOfTraces(arguments);
  case InputKind::Plan:
    break;
  }
  return differenceOfPlans(arguments, basis, findings);
}

} // namespace

int runDiff(const DiffArguments &arguments, const OutputOptions &output) {
  for (const std::string &input : {arguments.one, arguments.other})
    if (const StatusOr<std::string> beginning = readFile(input); !beginning.ok())
      return reportFailure(beginning.status(), output);
  const InputKind kind = kindOf(arguments.one), otherKind = kindOf(arguments.other);
  if (kind != otherKind)
    return reportFailure(
        Status(StatusCode::Usage, fmt::format("`{}` is a {}, `{}` a {}", arguments.one,
                                              nameOf(kind), arguments.other, nameOf(otherKind))),
        output, "compare two jobs, two plans, two tables of orders or two traces");
  const bool hasCosts = !arguments.costs.costs.empty() || !arguments.costs.machine.empty();
  if (hasCosts && (kind == InputKind::Job || kind == InputKind::Trace))
    return reportFailure(Status(StatusCode::Usage, fmt::format("a {} has no use for costs from the "
                                                               "command line",
                                                               nameOf(kind))),
                         output, "compare the plans");
  if (kind == InputKind::Table && !arguments.costs.machine.empty())
    return reportFailure(Status(StatusCode::Usage, kMachineOfTable), output, kCostsOfTable);
  int code = 0;
  const std::optional<CostBasis> basis = readCostBasis(arguments.costs, output, code);
  if (!basis)
    return code;
  SourceCache sources;
  Findings findings;
  const StatusOr<Difference> difference = differenceOf(kind, arguments, *basis, findings, sources);
  if (findings.any())
    return reportFindings(findings, sources, output);
  if (!difference.ok())
    return reportFailure(difference.status(), output);
  std::cout << (output.json ? jsonOf(*difference, kind) : textOf(*difference));
  return 0;
}

} // namespace vime
