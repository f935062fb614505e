#include "compiler/Lowering/ReceiveSlotsOfJob.h"

#include <algorithm>

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/OrderShape.h"
#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Lowering/FinishPlan.h"
#include "compiler/Lowering/LowerCommunication.h"
#include "compiler/Lowering/PlanMemory.h"
#include "compiler/Lowering/StepFamily.h"
#include "schedules/SlotsForCosts.h"

namespace vime {

namespace {

/// The order with as many microbatches as show what slots are worth: those under way at once,
/// several times over.
struct ShownOrder {
  Schedule order;
  int microbatches;
};
ShownOrder shown(const Schedule &order, std::uint32_t microbatches) {
  constexpr std::uint32_t kMostCells = 1 << 19; // of stage and microbatch: what takes a second
  const auto stages = static_cast<std::uint32_t>(order.placement.size());
  const auto slices = static_cast<std::uint32_t>(order.slices);
  const std::uint32_t shownSamples =
      std::min(4 * std::max(stages, std::uint32_t{8}),
               std::max(kMostCells / (stages * slices), 1u)); // all their slices
  const std::uint32_t few = std::min(microbatches, shownSamples * slices);
  return {few < microbatches ? shortened(order, few) : order, static_cast<int>(few)};
}

/// The coordinates along the pipeline of those that need more than the limit.
std::vector<bool> ranksOverLimit(const plan::Plan &plan, std::uint64_t limit) {
  std::vector<bool> over(plan.mesh.pipeline, false);
  for (std::size_t rank = 0; rank < plan.layoutOf.size(); ++rank) {
    const auto &arena = plan.layouts[plan.layoutOf[rank]].arena;
    if (arena[0] + arena[1] > limit)
      over[rank % plan.mesh.pipeline] = true;
  }
  return over;
}

/// What is chosen so far, as the job will say it.
struct Choice {
  std::vector<std::uint64_t> slots; // by rank
  bool byCosts = false, byMemory = false;

  void storeIn(Job &job) const {
    auto &field = job.pipeline.receiveSlots;
    const bool areAlike =
        std::all_of(slots.begin(), slots.end(), [&](auto count) { return count == slots.front(); });
    field.value = areAlike ? std::vector{slots.front()} : slots;
    field.origin = byCosts || byMemory ? OriginKind::Derived : OriginKind::Default;
    field.from = byCosts ? "pipeline.costs" : "";
    if (byMemory)
      field.from += byCosts ? ", pipeline.memory_limit" : "pipeline.memory_limit";
  }

  /// One slot less on those ranks; false if none of them has one to give.
  bool reduce(const std::vector<bool> &over) {
    bool reduced = false;
    for (std::size_t rank = 0; rank < slots.size(); ++rank)
      if (over[rank] && slots[rank] > 1) {
        --slots[rank];
        reduced = byMemory = true;
      }
    return reduced;
  }
};

/// Where replicas share the model, one whole stage less at a time, unless the job says how many:
/// some come more often then. False if there is none to spare.
bool narrowWindow(Job &job, const Schedule &order) {
  auto &field = job.memory.unsharded;
  const std::uint32_t window = windowOf(job, order);
  if (window <= 1 || (field.value != 0 && field.origin == OriginKind::Given))
    return false;
  field.value = window - 1;
  field.origin = OriginKind::Derived;
  field.from = "pipeline.memory_limit";
  return true;
}

} // namespace

ReceiveSlots receiveSlotsOf(const Job &job) {
  const auto &stated = job.pipeline.receiveSlots.value;
  return {{stated.begin(), stated.end()}};
}

SlotsWorth worthOfSlots(const Schedule &order, const Job &job) {
  const auto [few, microbatches] = shown(order, stepMicrobatches(job));
  const UnitCosts costs = costsOf(job);
  const int best = slotsForCosts(few, microbatches, costs);
  const auto timeOf = [&, &few = few, microbatches = microbatches](const ReceiveSlots &slots) {
    return static_cast<double>(timeWithSlots(few, microbatches, costs, slots).value_or(0));
  };
  return {timeOf(receiveSlotsOf(job)), timeOf({{best}}), best};
}

std::optional<plan::Plan> lowerWithSlots(Job &job, const Schedule &order,
                                         const std::vector<std::uint32_t> &family,
                                         Findings &findings) {
  if (!job.pipeline.receiveSlots.value.empty())
    return lowerCommunication(job, order, family, findings);
  Choice choice{std::vector<std::uint64_t>(order.rows.size(), kUsualSlots)};
  if (hasTransferCost(job)) {
    const auto [few, microbatches] = shown(order, stepMicrobatches(job));
    const int slots = slotsForCosts(few, microbatches, costsOf(job));
    choice.slots.assign(order.rows.size(), static_cast<std::uint64_t>(slots));
    choice.byCosts = true;
  }
  const std::uint64_t limit = memoryLimitOf(job);
  for (;;) {
    choice.storeIn(job);
    auto plan = lowerCommunication(job, order, family, findings);
    if (!plan || limit == 0)
      return plan;
    plan::Plan laidOut = *plan;
    if (!planMemory(laidOut, capsOf(job), mostMicrobatches(job), receiveSlotsOf(job)))
      return plan;
    const std::vector<bool> over = ranksOverLimit(laidOut, limit);
    if (std::none_of(over.begin(), over.end(), [](bool isOver) { return isOver; }) ||
        (!narrowWindow(job, order) && !choice.reduce(over)))
      return plan;
  }
}

void chooseSlots(Job &job, std::uint64_t samples) {
  auto &slots = job.pipeline.receiveSlots;
  if (!slots.value.empty())
    return;
  if (!hasTransferCost(job) && memoryLimitOf(job) == 0) {
    slots.value = {kUsualSlots};
    slots.origin = OriginKind::Default;
    return;
  }
  Findings findings; // of whoever compiles the job
  if (const auto order = buildOrder(job, findings))
    (void)lowerWithSlots(job, *order, stepFamily(job, samples), findings);
}

} // namespace vime
