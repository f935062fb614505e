#include "compiler/Frontend/OrderShape.h"

#include <algorithm>

#include "compiler/Frontend/Microbatch.h"
#include "schedules/Comparison.h"
#include "schedules/Registry.h"

namespace vime {

UnitCosts costsOf(const Job &job) {
  const std::vector<std::uint64_t> &stated = job.pipeline.costs.value;
  UnitCosts costs;
  int *const all[] = {&costs.forward, &costs.backwardInput, &costs.backwardWeight, &costs.transfer};
  for (std::size_t index = 0; index < std::min(stated.size(), std::size(all)); ++index)
    *all[index] = static_cast<int>(stated[index]);
  return costs;
}

bool hasTransferCost(const Job &job) { return costsOf(job).transfer > 0; }

Merging mergingOf(const Job &job) {
  const std::string &stated = job.pipeline.mergeBackwards.value;
  if (stated == "all")
    return Merging::All;
  // What nobody waits for in a whole step is not what nobody waits for in a shorter one; and halves
  // that are merged in some microbatches only would keep numbers from sharing a program.
  const bool varies = isPacked(job) || job.data.tail.value == "short";
  return stated == "none" || varies ? Merging::Nowhere : Merging::WhereItPays;
}

bool mergesByCosts(const Job &job) {
  const Order *order = findOrder(job.pipeline.schedule.value);
  return order && !job.pipeline.costs.value.empty() && mergingOf(job) == Merging::WhereItPays &&
         unitsOf(*order).splits;
}

// What is not stated is left to the order: zero, and of costs and slices the usual ones.
ScheduleShape shapeOf(const Job &job) {
  const auto &pipeline = job.pipeline;
  const Order *order = findOrder(pipeline.schedule.value);
  const bool needsCosts =
      !order || order->takes.costs || !(hasTransferCost(job) || mergesByCosts(job));
  return {.ranks = static_cast<int>(job.actor.pipeline.value),
          .microbatches = static_cast<int>(pipeline.microbatches.value),
          .chunks = static_cast<int>(pipeline.chunks.value),
          .group = static_cast<int>(pipeline.group.value),
          .memory = static_cast<int>(pipeline.memory.value),
          .slices = static_cast<int>(std::max(pipeline.slices.value, 1u)),
          .overlap = pipeline.overlap.value,
          .costs = needsCosts ? costsOf(job) : UnitCosts{}};
}

std::string pathOf(std::string_view number) {
  return number == "ranks" ? "roles.actor.parallel.pp" : "pipeline." + std::string(number);
}

std::span<const std::string_view> fieldsOfSomeOrders() {
  static constexpr std::string_view kFields[] = {
      "pipeline.group", "pipeline.memory", "pipeline.slices", "pipeline.overlap", "pipeline.costs"};
  return kFields;
}

} // namespace vime
