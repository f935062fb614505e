// break_plan PLAN.bin BROKEN.bin: a plan whose bytes are sound and that breaks a rule, which no
// compiler would write: the first action that waits for its input waits no more.
#include <cstdio>
#include <fstream>

#include "runtime/Plan/Opcode.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

bool forgetAWait(plan::Plan &plan) {
  for (plan::Program &program : plan.programs)
    for (plan::Action &action : program.actions)
      if (action.opcode == plan::code(plan::Opcode::Forward) && !action.waits[0].empty()) {
        action.waits = {};
        return true;
      }
  return false;
}

int breakPlan(const char *from, const char *to) {
  StatusOr<plan::Plan> plan = plan::readPlan(from);
  if (!plan.ok() || !forgetAWait(*plan)) {
    std::fprintf(stderr, "nothing to break in %s: %s\n", from, plan.status().message().c_str());
    return 1;
  }
  const Status written = plan::writePlan(*plan, to);
  std::fprintf(stderr, "%s", written.message().c_str());
  return written.exitCode();
}

} // namespace
} // namespace vime

int main(int count, char **values) {
  return count == 3 ? vime::breakPlan(values[1], values[2]) : 2;
}
