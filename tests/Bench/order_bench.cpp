// What an order costs from its rule to a proved plan: `order_bench NAME RANKS MICROBATCHES
// [CHUNKS]`.
//
// In one process, without a job, MLIR or a file: generation (Order::build), lowering (planOfOrder)
// and proof (verifyPlan), each in seconds of all its threads' CPU, the least of three runs; and the
// actions that a step runs, on all ranks.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

#include "compiler/Lowering/OrderPlan.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Mesh.h"
#include "schedules/Registry.h"

namespace {

using namespace vime;

double processSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::uint64_t actionsOf(const plan::Plan &plan) {
  std::uint64_t actions = 0;
  for (std::uint32_t rank = 0; rank < plan::representatives(plan.mesh); ++rank)
    for (const plan::Stretch &stretch : plan::stretchesOf(plan.programs[plan.programOf[rank]]))
      actions += std::uint64_t{stretch.trips} * (stretch.end - stretch.begin);
  return actions;
}

int fail(const std::string &why) {
  std::fprintf(stderr, "order_bench: %s\n", why.c_str());
  return 1;
}

} // namespace

int main(int count, char **arguments) {
  if (count < 4)
    return fail("expected NAME RANKS MICROBATCHES [CHUNKS]");
  const Order *order = findOrder(arguments[1]);
  if (!order)
    return fail("unknown order");
  const int microbatches = std::atoi(arguments[3]);
  const ScheduleShape shape =
      shapeFor(*order, std::atoi(arguments[2]), microbatches,
               count > 4 ? std::optional(std::atoi(arguments[4])) : std::nullopt);
  if (const auto problem = check(*order, shape))
    return fail(problem->message);
  std::array<double, 3> least{1e9, 1e9, 1e9};
  std::uint64_t actions = 0;
  const double start = processSeconds();
  for (int run = 0; run < 3 && (run == 0 || processSeconds() - start < 20); ++run) {
    std::array<double, 4> laps{processSeconds()};
    const Schedule schedule = order->build(shape);
    laps[1] = processSeconds();
    Findings findings;
    const auto plan = planOfOrder(schedule, microbatches, std::string(order->name),
                                  {.bytes = 1 << 20, .hash = {1, 2}}, findings);
    laps[2] = processSeconds();
    if (plan)
      verifyPlan(*plan, findings);
    laps[3] = processSeconds();
    if (!plan || findings.any())
      return fail(findings.any() ? findings.all().front().message : "no plan");
    for (std::size_t part = 0; part < least.size(); ++part)
      least[part] = std::min(least[part], laps[part + 1] - laps[part]);
    actions = actionsOf(*plan);
  }
  fmt::print("{{\"order\": \"{}\", \"actions\": {}, \"generate_s\": {:.4f}, \"lower_s\": {:.4f}, "
             "\"prove_s\": {:.4f}}}\n",
             order->name, actions, least[0], least[1], least[2]);
  return 0;
}
