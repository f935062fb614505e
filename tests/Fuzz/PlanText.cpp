// Fuzz target `plan_text`: a plan as text, as `vimec assemble` takes it.
#include "compiler/View/PlanText.h"

#include "compiler/View/PlanTextReader.h"
#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/PlanFile.h"
#include "tests/Fuzz/BasePlans.h"
#include "tests/Fuzz/Target.h"

namespace vime::fuzz {

void eat(std::string_view bytes) {
  const StatusOr<plan::Plan> plan = parsePlanText(bytes);
  if (!plan.ok())
    return must(!plan.status().message().empty(), "a refusal says why");
  if (!plan::checkPlan(*plan).ok())
    return;
  const StatusOr<plan::Plan> again = parsePlanText(planText(*plan));
  must(again.ok() && *again == *plan, "the text of a plan is the same plan");
  const StatusOr<plan::Plan> file = plan::parsePlan(plan::serializePlan(*plan));
  must(file.ok() && *file == *plan, "what was assembled is read back");
}

std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  for (const plan::Plan &plan : basePlans())
    seeds.push_back(planText(plan));
  return seeds;
}

} // namespace vime::fuzz
