// Fuzz target `plan`: plan.bin, as any rank, any judge and any view takes it.
#include "runtime/Plan/PlanFile.h"

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Verify/Verify.h"
#include "compiler/View/Memory.h"
#include "compiler/View/PlanText.h"
#include "compiler/View/PlanTextReader.h"
#include "runtime/Plan/Mesh.h"
#include "tests/Fuzz/BasePlans.h"
#include "tests/Fuzz/InputReader.h"
#include "tests/Fuzz/PlanEdits.h"
#include "tests/Fuzz/Target.h"
#include "tests/Interpreter/Interpreter.h"

namespace vime::fuzz {
namespace {

constexpr std::uint64_t kMostActionsRun = 2000;

/// Of all programs, loops unrolled.
std::uint64_t actionsRun(const plan::Plan &plan) {
  std::uint64_t actions = 0;
  for (const plan::Program &program : plan.programs) {
    std::uint64_t trips = 1;
    for (const plan::Loop &loop : program.loops)
      if (__builtin_mul_overflow(trips, std::uint64_t(loop.trips) + 1, &trips))
        return UINT64_MAX;
    if (trips > kMostActionsRun)
      return UINT64_MAX;
    actions += trips * program.actions.size();
  }
  return actions;
}

void isShown(const plan::Plan &plan) {
  (void)planSummary(plan);
  (void)planGrid(plan);
  (void)orderOf(plan);
  (void)planJson(plan);
  (void)planMemory(plan);
  (void)memoryJson(plan);
}

void comesBack(const plan::Plan &plan) {
  const StatusOr<plan::Plan> fromBytes = plan::parsePlan(plan::serializePlan(plan));
  must(fromBytes.ok() && *fromBytes == plan, "a plan that was read is the same when written");
  const StatusOr<plan::Plan> fromText = parsePlanText(planText(plan));
  must(fromText.ok(), "the text of a plan is a plan");
  must(*fromText == plan, "the text of a plan is the same plan");
}

/// What the judges accept is right.
void isJudged(const plan::Plan &plan) {
  Findings findings;
  verifyPlan(plan, findings, "job.yaml");
  const SourceCache sources;
  (void)renderText(findings, sources);
  (void)renderJson(findings, sources);
  constexpr std::uint64_t kMostSteps = 8; // that the interpreter decides about
  if (!findings.any() && plan.mesh.ranks() <= 8 && actionsRun(plan) <= kMostActionsRun &&
      plan.models.size() == 1 && plan.run.steps <= kMostSteps)
    must(interpreter::judge(plan, interpreter::coursesOf(plan)).fault == interpreter::Fault::None,
         "a proved plan trains what its job asks for");
}

} // namespace

void eat(std::string_view bytes) {
  const std::string file = editedPlanFile(bytes);
  const StatusOr<plan::Plan> plan = plan::parsePlan(file);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const StatusOr<plan::RankPlan> part = plan::parseRankPlan(file, rank);
    must(!plan.ok() || part.ok() == (rank < plan->mesh.ranks()),
         "a plan that can be read whole can be read by each of its ranks");
  }
  if (!plan.ok())
    return must(!plan.status().message().empty(), "a refusal says why");
  comesBack(*plan);
  isShown(*plan);
  isJudged(*plan);
}

std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  for (std::size_t base = 0; base < basePlans().size(); ++base)
    seeds.emplace_back(1, static_cast<char>(base));
  addRandomInputs(seeds, 400, 40);
  return seeds;
}

} // namespace vime::fuzz
