// Whatever stands in a plan, the judges come to a verdict: no index is followed before it is looked
// at.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compiler/Verify/Verify.h"
#include "tests/lowering/Lowered.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;

class Damage {
public:
  Damage(Plan &plan, std::uint32_t seed) : plan(plan), random(seed) {}

  void apply() {
    Program &program = plan.programs[random() % 2];
    Layout &layout = plan.layouts[random() % 2];
    if (!program.cases.empty() && random() % 3 == 0)
      return ofDecisions(program);
    switch (random() % 12) {
    case 0:
    case 1:
    case 2:
    case 3:
      return scramble(&program.actions[random() % program.actions.size()], sizeof(Action));
    case 4:
      return set(program.operands[random() % program.operands.size()]);
    case 5:
      return anyOf(program.loops[random() % program.loops.size()]);
    case 6:
      return anyOf(layout.buffers[random() % layout.buffers.size()]);
    case 7:
      return anyOf(program.lanes[random() % program.lanes.size()]);
    case 8:
      return anyOf(plan.groups[random() % plan.groups.size()]);
    case 9:
      return anyOf(plan.data);
    case 10:
      return random() % 2 ? set(program.stages[0].model) : set(program.stages[0].stage);
    default:
      return random() % 2 ? set(plan.mesh.pipeline) : set(plan.programOf[random() % 2]);
    }
  }

private:
  template <typename T> void set(T &value) {
    const std::uint64_t edges[] = {
        0, 1, 2, 255, 65535, 65536, ~std::uint64_t{0}, random(), random() % 64};
    value = static_cast<T>(edges[random() % std::size(edges)]);
  }
  void scramble(void *bytes, std::size_t count) {
    static_cast<unsigned char *>(bytes)[random() % count] = static_cast<unsigned char>(random());
  }
  void ofDecisions(Program &program) {
    Case &one = program.cases[random() % program.cases.size()];
    Condition &condition = plan.conditions[random() % plan.conditions.size()];
    DecisionRange &range = plan.decisions[random() % plan.decisions.size()];
    switch (random() % 9) {
    case 0:
      return set(one.begin);
    case 1:
      return set(one.end);
    case 2:
      return set(one.condition);
    case 3:
      return set(condition.decision);
    case 4:
      return set(condition.comparison);
    case 5:
      return set(condition.value);
    case 6:
      return set(range.decision);
    case 7:
      return set(range.values[random() % range.values.size()]);
    default:
      return set(plan.evaluation.microbatches);
    }
  }
  void anyOf(Loop &loop) {
    switch (random() % 8) {
    case 7:
      return set(loop.perTrip);
    case 6:
      return set(loop.until);
    case 0:
      return set(loop.id);
    case 1:
      return set(loop.begin);
    case 2:
      return set(loop.end);
    case 3:
      return set(loop.trips);
    case 4:
      return set(loop.start);
    default:
      return set(loop.period);
    }
  }
  void anyOf(Buffer &buffer) {
    switch (random() % 7) {
    case 0:
      return set(buffer.kind);
    case 1:
      return set(buffer.tier);
    case 2:
      return set(buffer.stage);
    case 3:
      return set(buffer.count);
    case 4:
      return set(buffer.bytes);
    case 5:
      return set(buffer.stride);
    default:
      return set(buffer.offset);
    }
  }
  void anyOf(Lane &lane) {
    switch (random() % 7) {
    case 0:
      return set(lane.kind);
    case 1:
      return set(lane.flow);
    case 2:
      return set(lane.peer.axis);
    case 3:
      return set(lane.peer.value);
    case 4:
      return set(lane.message.fixed);
    case 5:
      return set(lane.message.perToken);
    default:
      return set(lane.group);
    }
  }
  void anyOf(Group &group) {
    switch (random() % 4) {
    case 0:
      return set(group.operation);
    case 1:
      return set(group.axes);
    case 2:
      return set(group.root);
    default:
      return set(group.message.fixed);
    }
  }
  void anyOf(DataSettings &data) {
    switch (random() % 5) {
    case 0:
      return set(data.sequence);
    case 1:
      return set(data.slices);
    case 2:
      return set(data.samples);
    case 3:
      return set(data.tokens);
    default:
      return set(data.microbatches);
    }
  }

  Plan &plan;
  std::mt19937 random;
};

TEST(Damaged, EveryPlanGetsAVerdict) {
  const Plan varied = lowered({.family = {2, 3}, .evaluates = 4});
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    Plan plan = seed % 3 == 0   ? varied
                : seed % 3 == 1 ? foldedPlan({.exportTo = "model"})
                                : smallPlan({.exportTo = "model"});
    Damage damage(plan, seed);
    for (std::uint32_t times = 0; times <= seed % 5 % 3; ++times)
      damage.apply();
    Findings findings;
    verifyPlan(plan, findings);
    refused += findings.any();
  }
  EXPECT_GT(refused, 1500);
}

} // namespace
} // namespace vime
