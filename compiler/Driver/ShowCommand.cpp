#include <iostream>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/TorchTable.h"
#include "compiler/View/Memory.h"
#include "compiler/View/PlanText.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

int runShow(const ShowArguments &arguments, const OutputOptions &output) {
  const StatusOr<plan::Plan> plan = plan::readPlan(arguments.plan);
  if (!plan.ok())
    return reportFailure(plan.status(), output);
  if (arguments.format == "csv" && !arguments.memory && !output.json)
    return printTorchTable(arguments.plan, orderOf(*plan), /*with=*/{}, output);
  if (arguments.memory)
    std::cout << (output.json ? memoryJson(*plan) + '\n' : planMemory(*plan));
  else if (output.json)
    std::cout << planJson(*plan) << "\n";
  else if (arguments.format == "text")
    std::cout << planText(*plan);
  else if (arguments.format == "grid")
    std::cout << planGrid(*plan);
  else
    std::cout << planSummary(*plan);
  return 0;
}

} // namespace vime
