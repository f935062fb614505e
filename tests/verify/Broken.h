// Broken: a plan that breaks a rule by one change, and what is read of it.
//
//   broken([](Draft &draft) { draft.remove(0, "optimize, stage 0"); }) // the rendered findings
//
// Each starts from the small plan (tests/plan/SmallPlan.h: 2 ranks, 1F1B, 2 microbatches, 3 steps).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/Plan/Describe.h"
#include "tests/plan/SmallPlan.h"
#include "tests/verify/Judged.h"

namespace vime {

/// A small plan on its way to break a rule.
struct Draft {
  plan::Plan plan;

  plan::Action &action(std::uint32_t rank, std::string_view description) {
    return plan.programs[rank].actions[indexOf(plan, rank, description)];
  }
  std::uint32_t bufferIndex(std::uint32_t rank, std::string_view description) {
    std::uint32_t index = 0;
    while (describeBuffer(plan, rank, index) != description)
      ++index;
    return index;
  }
  plan::Buffer &buffer(std::uint32_t rank, std::string_view description) {
    return plan.layouts[rank].buffers[bufferIndex(rank, description)];
  }
  plan::Lane &lane(std::uint32_t rank, std::string_view description) {
    std::uint32_t index = 0;
    while (describeLane(plan, rank, index) != description)
      ++index;
    return plan.programs[rank].lanes[index];
  }
  /// Times stay where they are.
  void swap(std::uint32_t rank, std::string_view one, std::string_view other) {
    plan::Action &first = action(rank, one), &second = action(rank, other);
    std::swap(first, second);
    std::swap(first.time, second.time);
  }
  /// Puts an action in front of an earlier one; times stay where they are.
  void move(std::uint32_t rank, std::string_view what, std::string_view before) {
    auto &actions = plan.programs[rank].actions;
    const std::uint32_t begin = indexOf(plan, rank, before), end = indexOf(plan, rank, what);
    for (std::uint32_t index = end; index > begin; --index) {
      std::swap(actions[index], actions[index - 1]);
      std::swap(actions[index].time, actions[index - 1].time);
    }
  }
  void remove(std::uint32_t rank, std::string_view description) {
    plan::Program &program = plan.programs[rank];
    const std::uint32_t index = indexOf(plan, rank, description);
    program.actions.erase(program.actions.begin() + index);
    for (plan::Loop &loop : program.loops)
      loop.end -= index < loop.end;
  }
};

inline std::string broken(const std::function<void(Draft &)> &change,
                          const SmallPlanOptions &options = {}) {
  Draft draft{smallPlan(options)};
  change(draft);
  return judged(draft.plan);
}

} // namespace vime
