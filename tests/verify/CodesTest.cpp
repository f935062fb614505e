// The codes that the Broken…Test files show no message of: for each a change of the small plan that
// raises it.
#include <algorithm>

#include <gtest/gtest.h>

#include <functional>

#include "runtime/Plan/Describe.h"
#include "tests/plan/SmallPlan.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;

Action &at(Plan &plan, std::uint32_t rank, std::string_view description) {
  return plan.programs[rank].actions[indexOf(plan, rank, description)];
}
void swap(Plan &plan, std::string_view one, std::string_view other) {
  Action &first = at(plan, 0, one), &second = at(plan, 0, other);
  std::swap(first, second);
  std::swap(first.time, second.time);
}
std::uint32_t bufferOf(const Plan &plan, std::uint32_t rank, BufferKind kind) {
  std::uint32_t index = 0;
  while (plan.layouts[rank].buffers[index].kind != kind)
    ++index;
  return index;
}
std::uint32_t &operand(Plan &plan, std::string_view description, std::uint32_t index) {
  return plan.programs[0].operands[at(plan, 0, description).operands + index];
}
/// Nothing in its place.
void drop(Plan &plan, std::uint32_t rank, std::string_view description) {
  Action &action = at(plan, rank, description);
  action.opcode = code(Opcode::Join);
  action.operandCount = 0;
  action.lane = 0;
}
/// `measure` of rank 0 becomes a copy of another action with another opcode.
void replaceMeasure(Plan &plan, std::string_view copied, Opcode opcode) {
  Action action = at(plan, 0, copied);
  action.opcode = code(opcode);
  action.time = at(plan, 0, "measure").time;
  at(plan, 0, "measure") = action;
}

struct Case {
  std::string_view code;
  std::function<void(Plan &)> change;
  std::string exportTo = "";
};

const Case kCases[] = {
    {"S0103",
     [](Plan &plan) {
       replaceMeasure(plan, "backward, stage 0, microbatch 0", Opcode::BackwardInput);
       at(plan, 0, "backward_input, stage 0, microbatch 0").operandCount = 12;
     }},
    {"S0104",
     [](Plan &plan) {
       replaceMeasure(plan, "backward, stage 0, microbatch 0", Opcode::Loss);
       at(plan, 0, "loss, stage 0, microbatch 0").operandCount = 5;
     }},
    // The commit finds what was gathered in the last step.
    {"S0203",
     [](Plan &plan) { // counters are gathered once, in front of all steps
       for (Program &program : plan.programs) {
         const auto begin = program.actions.begin() + program.loops[0].begin++;
         const auto gather =
             std::ranges::find(begin, program.actions.end(), code(Opcode::Gather), &Action::opcode);
         std::rotate(begin, gather, gather + 1);
       }
     }},

    {"S0301", [](Plan &plan) { plan.mesh.tensor = 2; }},
    {"S0302",
     [](Plan &plan) {
       Program &program = plan.programs[0];
       plan.data.microbatches = program.loops[0].trips = 65536;
       const Action join{.opcode = code(Opcode::Join), .step = 1};
       program.actions.insert(program.actions.begin() + program.loops[0].begin, 1100, join);
       program.loops[0].end += 1100;
     }},
    {"S0303", [](Plan &plan) { plan.programOf.pop_back(); }},
    {"S0304", [](Plan &plan) { plan.data.microbatches = 0; }},
    {"S0324", [](Plan &plan) { plan.data.slices = 3; }},
    {"S0305", [](Plan &plan) { plan.groups[0].root = 2; }},
    {"S0306", [](Plan &plan) { plan.programs[0].lanes[0].kind = LaneKind::Host; }},
    {"S0309", [](Plan &plan) { plan.programs[0].stages[0].stage = 2; }},
    {"S0310", [](Plan &plan) { plan.layouts[0].buffers[0].count = 0; }},
    {"S0312", [](Plan &plan) { at(plan, 0, "clip").lane = 1; }},
    {"S0313", [](Plan &plan) { at(plan, 0, "optimize, stage 0").stage = 1; }},
    {"S0315",
     [](Plan &plan) {
       at(plan, 0, "send forward to rank 1, stage 0, microbatch 0").flags |= kGroupBegin;
     }},
    {"S0319", [](Plan &plan) { at(plan, 0, "clip").guard = 1; }},
    {"S0316", [](Plan &plan) { at(plan, 0, "clip").waits[0] = Wait::on(63, 1); }},
    {"S0317", [](Plan &plan) { at(plan, 0, "clip").operandCount = 1; }},

    {"S0404",
     [](Plan &plan) {
       for (const auto action :
            {"scale_gradients, stage 0", "square_norm, stage 0", "optimize, stage 0"})
         drop(plan, 0, action);
     }},
    {"S0405",
     [](Plan &plan) { swap(plan, "backward, stage 0, microbatch 1", "scale_gradients, stage 0"); }},
    {"S0407", [](Plan &plan) { swap(plan, "square_norm, stage 0", "all_gather `norm`"); }},
    {"S0410", [](Plan &plan) { drop(plan, 0, "initialize, stage 0"); }},
    {"S0411",
     [](Plan &plan) {
       operand(plan, "backward, stage 0, microbatch 1", 6) = bufferOf(plan, 0, BufferKind::Moments);
     }},

    {"C0105", [](Plan &plan) { plan.programs[0].lanes[3].flow = Flow::Forward; }},
    {"C0106", [](Plan &plan) { plan.programs[0].lanes[2].slots = 3; }},
    {"C0108",
     [](Plan &plan) {
       plan.layouts[1].buffers[bufferOf(plan, 1, BufferKind::Labels)].stride = 128;
     }},
    {"C0109",
     [](Plan &plan) {
       at(plan, 0, "send forward to rank 1, stage 0, microbatch 0").flags |= kSkipIfEmpty;
     }},
    {"C0110", [](Plan &plan) { plan.programs[0].lanes[2].message.perToken = 0; }},
    {"C0208", [](Plan &plan) { plan.programs[0].loops[0].period = -1; }},
    {"C0306",
     [](Plan &plan) {
       plan.layouts[1].buffers[bufferOf(plan, 1, BufferKind::Segments)].stride = 128;
     }},
    {"C0308", [](Plan &plan) { at(plan, 1, "broadcast `step`").flags |= kSkipIfEmpty; }},

    {"M0203",
     [](Plan &plan) {
       const Buffer buffer{.bytes = 64, .stride = 64};
       plan.layouts[0].buffers.insert(plan.layouts[0].buffers.end(), 3000, buffer);
     }},
    // `clip` writes the losses, which then come from rank 1.
    {"M0304", [](Plan &plan) { operand(plan, "clip", 1) = bufferOf(plan, 0, BufferKind::Losses); }},
};

TEST(Codes, EachCanBeRaised) {
  for (const Case &one : kCases) {
    Plan plan = smallPlan({.exportTo = one.exportTo});
    one.change(plan);
    const std::string codes = codesOf(plan);
    EXPECT_NE(codes.find(one.code), std::string::npos) << one.code << " not among: " << codes;
  }
}

} // namespace
} // namespace vime
