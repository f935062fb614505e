// S3, first half: no index of the plan leads out of what it points into, and nothing is asked for
// that this version's judges do not know (other mesh axes, guards, fused transfers). What stands
// here makes the table safe to build.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/Rules.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/Slices.h"

namespace vime::verify {
namespace {

using namespace plan;

// No plan of ours comes near; beyond them tables would not fit.
constexpr std::uint32_t kMaxMicrobatches = 1 << 22, kMaxRanks = 1 << 20;
constexpr std::uint64_t kMaxSlots = std::uint64_t{1} << 24;
constexpr std::size_t kMaxStages = 65535;
constexpr std::size_t kMaxLoops = 1024;

class Ranges {
public:
  Ranges(const Plan &plan, Verdict &verdict) : plan(plan), verdict(verdict) {}

  bool hold() {
    if (!mesh() || !models() || !groups() || !decisions())
      return false;
    for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank) {
      const Program &program = plan.programs[plan.programOf[rank]];
      if (firstWith(plan.programOf, rank) &&
          !(lanes(rank, program) && loops(rank, program) && stages(rank, program)))
        continue;
      if (sound && slots(rank))
        actions(rank, program);
    }
    return sound;
  }

private:
  template <typename... Values>
  bool require(bool holds, int number, fmt::format_string<Values...> text, Values &&...values) {
    if (!holds)
      fail(number, fmt::format(text, std::forward<Values>(values)...));
    return holds;
  }
  void fail(int number, std::string message) {
    verdict.error(Rule::S3, number, std::move(message));
    sound = false;
  }
  bool fail(int number, std::uint32_t rank, std::size_t action, std::string message) {
    const ActionPlace place{rank, static_cast<std::uint32_t>(action)};
    Finding &finding = verdict.error(Rule::S3, number, place, std::move(message));
    verdict.from(finding, place);
    return sound = false;
  }

  static bool firstWith(const std::vector<std::uint32_t> &table, std::uint32_t rank) {
    return std::find(table.begin(), table.begin() + rank, table[rank]) == table.begin() + rank;
  }

  bool mesh() {
    const Mesh &mesh = plan.mesh;
    if (!require(mesh.engines <= kMaxRanks && (mesh.engines == 0 || mesh.data <= 2), 1,
                 "{} engines beside {} replicas cannot be judged", mesh.engines, mesh.data) ||
        !require(mesh.data >= 1 && mesh.context == 1 && mesh.tensor == 1 &&
                     std::uint64_t{mesh.pipeline} * mesh.data <= kMaxRanks,
                 1,
                 "a mesh with pp={} dp={} cp={} tp={} cannot be judged: only `pp` and `dp` may "
                 "exceed 1, with {} ranks at most",
                 mesh.pipeline, mesh.data, mesh.context, mesh.tensor, kMaxRanks))
      return false;
    const std::uint32_t ranks = representatives(mesh);
    const auto inRange = [](const auto &table, std::size_t size) {
      return std::all_of(table.begin(), table.end(),
                         [size](std::uint32_t index) { return index < size; });
    };
    return require(mesh.pipeline >= 1 && plan.programOf.size() == ranks &&
                       plan.layoutOf.size() == ranks,
                   3, "{} ranks have {} programs and {} layouts", ranks, plan.programOf.size(),
                   plan.layoutOf.size()) &&
           require(inRange(plan.programOf, plan.programs.size()) &&
                       inRange(plan.layoutOf, plan.layouts.size()),
                   3, "a rank has a program or layout that the plan does not hold");
  }

  bool models() {
    std::size_t count = 0;
    for (const Model &model : plan.models)
      count += model.stages.size();
    for (const Model &model : plan.models)
      require(!model.sharded ||
                  (plan.mesh.data > 1 && copiesOf(model.stages) == 1 && !model.config.tiedHead),
              4, "{} replicas share a model, of which it has {} copies{}", plan.mesh.data,
              copiesOf(model.stages), model.config.tiedHead ? " and a tied head" : "");
    for (const Model &model : plan.models)
      require(copiesOf(model.stages) <= 2 && copiesOf(model.stages) <= plan.data.microbatches, 4,
              "the plan has {} copies of a model, for at most 2 and no more than the microbatches "
              "of a step",
              copiesOf(model.stages));
    return require(count >= 1 && count <= kMaxStages, 4, "the plan has {} stages, not 1 to {}",
                   count, kMaxStages) &&
           require(plan.data.microbatches >= 1 && plan.data.microbatches <= kMaxMicrobatches, 4,
                   "a step has {} microbatches, not 1 to {}", plan.data.microbatches,
                   kMaxMicrobatches) &&
           require(plan.data.tokens >= 1, 4, "a microbatch has up to {} tokens",
                   plan.data.tokens) &&
           slices();
  }

  /// A pass has all slices of a microbatch, and all slices are alike.
  bool slices() {
    const std::uint32_t slices = plan.data.slices;
    if (!require(slices >= 1 && plan.data.sequence % slices == 0, 24,
                 "samples of {} tokens are cut into {} slices", plan.data.sequence, slices))
      return false;
    const auto isWhole = [&](std::uint32_t microbatches) {
      return require(microbatches % slices == 0, 24,
                     "a pass of {} microbatches lacks some of their {} slices", microbatches,
                     slices);
    };
    const auto counts = valuesOf(plan, Decision::Microbatches);
    return isWhole(plan.data.microbatches) && isWhole(plan.evaluation.microbatches) &&
           std::all_of(counts.begin(), counts.end(), isWhole);
  }

  bool isSharded() const {
    return std::any_of(plan.models.begin(), plan.models.end(),
                       [](const Model &model) { return model.sharded; });
  }

  bool groups() {
    for (const Group &group : plan.groups) {
      if (!group.members.empty()) {
        listed(group);
        continue;
      }
      require(group.message.perToken == 0 && isEnumerator(group.operation), 5,
              "group `{}` has no message of fixed size, or an unknown operation", group.name);
      const bool alongReplicas = group.axes == bitOf(Axis::Data);
      const bool isMirrored = group.axes == bitOf(Axis::Mirror) && plan.mesh.pipeline % 2 == 0;
      if (!require(alongReplicas || isMirrored || group.axes == bitOf(Axis::Pipeline), 5,
                   "group `{}` does not run along `pp` or `dp` alone, or over pairs of ranks",
                   group.name))
        continue;
      const std::uint32_t members = memberCount(plan.mesh, group);
      // Replicas but the leading one are alike: none of them can be the one that differs.
      require(group.root < (alongReplicas ? 1 : members), 5,
              "group `{}` has root {} and {} members{}", group.name, group.root, members,
              alongReplicas ? "; along `dp` the leading replica is the root" : "");
      const bool shares =
          movesOperands(group.operation) && group.operation != Collective::AllReduce;
      require(!shares || (alongReplicas && isSharded()), 5,
              "group `{}` moves shares, though no replicas share anything along it", group.name);
      require(alongReplicas || isMirrored || group.operation != Collective::AllReduce, 5,
              "group `{}` adds up over the stages of a pipeline", group.name);
      require(!isMirrored || group.operation == Collective::AllReduce, 5,
              "group `{}` runs over pairs of ranks, but adds nothing up", group.name);
    }
    return sound;
  }

  /// One that trains, and all who generate.
  void listed(const Group &group) {
    const std::vector<std::uint32_t> &members = group.members;
    bool ascend = members.size() == std::size_t{plan.mesh.engines} + 1;
    for (std::size_t index = 0; ascend && index < members.size(); ++index)
      ascend = index == 0 ? !plan.mesh.isEngine(members[0])
                          : members[index] == plan.mesh.trainers() + index - 1;
    const bool isKnown = group.operation == Collective::Broadcast ||
                         group.operation == Collective::Gather ||
                         group.operation == Collective::BroadcastWeights;
    require(ascend && isKnown && group.root == 0 && group.message.perToken == 0, 5,
            "group `{}` is not of one rank that trains and all that generate", group.name);
  }

  bool lanes(std::uint32_t rank, const Program &program) {
    const std::size_t count = program.lanes.size();
    if (!require(count >= 1 && count <= Wait::kMaxLanes, 6, "rank {} has {} lanes, not 1 to {}",
                 rank, count, static_cast<int>(Wait::kMaxLanes)) ||
        !require(program.lanes[0].kind == LaneKind::Compute, 6,
                 "lane 0 of rank {} is not `compute`", rank))
      return false;
    for (std::size_t index = 0; index < count; ++index)
      lane(rank, index, program.lanes[index]);
    return sound;
  }

  void lane(std::uint32_t rank, std::size_t index, const Lane &lane) {
    require(isEnumerator(lane.kind) && isEnumerator(lane.flow), 6,
            "lane {} of rank {} is of no known kind", index, rank);
    if (lane.kind == LaneKind::Group)
      require(lane.group < plan.groups.size(), 6, "lane {} of rank {} names group {} of {}", index,
              rank, lane.group, plan.groups.size());
    if (lane.kind == LaneKind::Group && lane.group < plan.groups.size()) {
      const std::vector<std::uint32_t> &members = plan.groups[lane.group].members;
      require(members.empty() ? !plan.mesh.isEngine(rank)
                              : std::binary_search(members.begin(), members.end(), rank),
              6, "rank {} has a lane for group {}, of which it is no member", rank, lane.group);
    }
    if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
      return;
    require(!plan.mesh.isEngine(rank), 7, "rank {} generates, and has a channel", rank);
    const auto size = static_cast<std::int64_t>(plan.mesh.pipeline);
    const bool inRange = lane.peer.relative ? lane.peer.value > -size && lane.peer.value < size
                                            : lane.peer.value >= 0 && lane.peer.value < size;
    if (require(lane.peer.axis == Axis::Pipeline && inRange, 7,
                "lane {} of rank {} has no peer on the mesh", index, rank))
      require(resolvePeer(plan.mesh, rank, lane.peer) != rank, 7,
              "lane {} of rank {} leads back to the rank itself", index, rank);
  }

  bool loops(std::uint32_t rank, const Program &program) {
    if (!require(program.loops.size() <= kMaxLoops, 8, "rank {} has {} loops, more than {}", rank,
                 program.loops.size(), kMaxLoops))
      return false;
    if (const auto misfit = findLoopMisfit(program)) {
      fail(8, fmt::format("loop {} of rank {} {}", misfit->loop->id, rank, misfit->problem));
      return false;
    }
    for (const Loop &loop : program.loops)
      clock(rank, loop);
    if (sound)
      cases(rank, program);
    if (sound)
      for (const Stretch &stretch : stretchesOf(program))
        require(stretch.trips <= mostMicrobatchesOf(plan), 8,
                "loop {} of rank {} runs {} times in a step of {} microbatches",
                stretch.loop ? stretch.loop->id : 0, rank, stretch.trips, mostMicrobatchesOf(plan));
    return sound;
  }

  std::uint32_t microbatchesOf(const Signature &signature) const {
    if (signature.family == Family::Transfer)
      return mostMicrobatchesOf(plan);
    return isEvaluation(signature.opcode) ? plan.evaluation.microbatches : plan.data.microbatches;
  }

  bool decisions() {
    for (const auto &[decision, values] : plan.decisions) {
      const bool ofMicrobatches = decision == Decision::Microbatches;
      const std::uint32_t most = ofMicrobatches                  ? plan.data.microbatches
                                 : decision == Decision::Verdict ? kRefused
                                                                 : 1;
      const bool fits = std::all_of(values.begin(), values.end(), [&](std::uint32_t value) {
        return value <= most && (value != 0 || !ofMicrobatches);
      });
      require(isEnumerator(decision) && !values.empty() && fits, 23,
              "decision {} has no values, or one that it cannot have",
              static_cast<unsigned>(decision));
    }
    for (const Condition &condition : plan.conditions)
      require(isEnumerator(condition.decision) && isEnumerator(condition.comparison) &&
                  !valuesOf(plan, condition.decision).empty(),
              23, "a condition is about decision {}, which the plan does not make",
              static_cast<unsigned>(condition.decision));
    require(plan.evaluation.microbatches <= kMaxMicrobatches, 4,
            "an evaluation has {} microbatches, more than {}", plan.evaluation.microbatches,
            kMaxMicrobatches);
    return sound;
  }

  void cases(std::uint32_t rank, const Program &program) {
    if (const auto misfit = findCaseMisfit(program))
      fail(23, fmt::format("case {} of rank {} {}", misfit->index, rank, misfit->problem));
    for (const Case &one : program.cases)
      require(one.condition <= plan.conditions.size(), 23,
              "a case of rank {} has condition {} of {}", rank, one.condition,
              plan.conditions.size());
    for (const Loop &loop : program.loops)
      require(loop.until <= plan.conditions.size(), 23,
              "loop {} of rank {} ends on condition {} of {}", loop.id, rank, loop.until,
              plan.conditions.size());
    for (const Loop &loop : program.loops)
      if (sound && loop.perTrip != 0)
        decidedTrips(rank, program, loop);
  }

  void decidedTrips(std::uint32_t rank, const Program &program, const Loop &loop) {
    const auto one =
        std::find_if(program.cases.begin(), program.cases.end(), [&](const Case &around) {
          return around.begin <= loop.begin && loop.end <= around.end;
        });
    const auto counts = valuesOf(plan, Decision::Microbatches);
    if (!require(one != program.cases.end() && !counts.empty(), 23,
                 "the trips of loop {} of rank {} are decided, outside of a case or by nothing",
                 loop.id, rank))
      return;
    for (const std::uint32_t count : counts)
      require(!mayRun(plan, *one, count) || tripsOf(loop, plan.data.microbatches, count), 23,
              "loop {} of rank {} cannot run in a step of {} microbatches", loop.id, rank, count);
  }

  /// C2 adds times up, of nested loops too; none may leave 60 bits.
  void clock(std::uint32_t rank, const Loop &loop) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    if (loop.start > -kMost && loop.start < kMost && loop.period >= 0 &&
        loop.period < (kMost / loop.trips - 1))
      return;
    verdict.error(
        Rule::C2, 8,
        fmt::format("the clock of loop {} of rank {} overflows or runs backward", loop.id, rank));
    sound = false;
  }

  bool stages(std::uint32_t rank, const Program &program) {
    for (const LocalStage &local : program.stages)
      require(local.model < plan.models.size() &&
                  local.stage < plan.models[local.model].stages.size(),
              9, "rank {} holds stage {} of model {}, which the plan does not have", rank,
              local.stage, local.model);
    return sound;
  }

  /// What an action on a microbatch is given as the slot of that microbatch holds something of it;
  /// elsewhere in such a buffer nobody would look.
  static bool holdsMicrobatches(BufferKind kind) {
    return (kind >= BufferKind::Segments && kind <= BufferKind::Losses) ||
           kind == BufferKind::Policy || kind == BufferKind::Reference ||
           (kind >= BufferKind::Input && kind <= BufferKind::WeightStash) ||
           kind == BufferKind::Workspace || isShared(kind);
  }

  bool slots(std::uint32_t rank) {
    std::uint64_t count = 0;
    for (const Buffer &buffer : plan.layouts[plan.layoutOf[rank]].buffers) {
      require(buffer.count <= 1 || !isEnumerator(buffer.kind) || holdsMicrobatches(buffer.kind), 10,
              "`{}` of rank {} has {} slots, but belongs to no microbatch", nameOf(buffer.kind),
              rank, buffer.count);
      require(isEnumerator(buffer.kind) && isEnumerator(buffer.tier) && buffer.count >= 1, 10,
              "a buffer of rank {} has no known kind or no slots", rank);
      count += std::min(buffer.count, mostMicrobatchesOf(plan));
    }
    return require(count <= kMaxSlots, 10, "the buffers of rank {} have {} slots, more than {}",
                   rank, count, kMaxSlots) &&
           sound;
  }

  void actions(std::uint32_t rank, const Program &program) {
    const bool known = !firstWith(plan.programOf, rank);
    const Layout &layout = plan.layouts[plan.layoutOf[rank]];
    for (const Stretch &stretch : stretchesOf(program)) {
      // Of a whole step; in shorter ones microbatches advance less.
      const std::uint64_t last = std::uint64_t{stretch.first} + stretch.trips - 1;
      for (std::size_t index = stretch.begin; index < stretch.end; ++index)
        if (!((known || action(rank, program, index, last)) &&
              operands(rank, program, layout, index)))
          return;
    }
  }

  /// `last`: the most iterations by which its microbatch advances.
  bool action(std::uint32_t rank, const Program &program, std::size_t index, std::uint64_t last) {
    const Action &action = program.actions[index];
    const Signature *signature = signatureOf(action.opcode);
    if (!signature)
      return fail(11, rank, index,
                  fmt::format("action {} of rank {} has unknown opcode {:#06x}", index, rank,
                              action.opcode));
    if (action.lane >= program.lanes.size() || program.lanes[action.lane].kind != signature->lane)
      return fail(12, rank, index,
                  fmt::format("{} stands on lane {}, which is not a {} lane", signature->name,
                              action.lane, nameOf(signature->lane)));
    if (signature->perStage && action.stage >= program.stages.size())
      return fail(13, rank, index,
                  fmt::format("{} is for local stage {} of a rank with {}", signature->name,
                              action.stage, program.stages.size()));
    if (action.microbatch + action.step * last >= microbatchesOf(*signature))
      return fail(14, rank, index,
                  fmt::format("{} is for microbatch {} of a step with {}", signature->name,
                              action.microbatch, microbatchesOf(*signature)));
    if ((action.flags & (kGroupBegin | kGroupEnd)) != 0)
      return fail(15, rank, index, "fused transfers cannot be judged by this version");
    if (action.guard > plan.conditions.size() ||
        (action.guard != 0 &&
         (signature->family == Family::Transfer || signature->family == Family::Collective)))
      return fail(19, rank, index,
                  fmt::format("{} has a guard that it cannot have", signature->name));
    for (const Wait &wait : action.waits)
      if (!wait.empty() &&
          (wait.distance() == 0 || wait.lane() >= static_cast<int>(program.lanes.size())))
        return fail(16, rank, index,
                    fmt::format("{} waits for distance {} on lane {} of {}", signature->name,
                                wait.distance(), wait.lane(), program.lanes.size()));
    return true;
  }

  bool operands(std::uint32_t rank, const Program &program, const Layout &layout,
                std::size_t index) {
    const Action &action = program.actions[index];
    const Signature &signature = *signatureOf(action.opcode);
    const std::size_t end = std::size_t{action.operands} + action.operandCount;
    if (action.operandCount != signature.operands.size() || end > program.operands.size())
      return fail(17, rank, index,
                  fmt::format("{} has {} operands, not {}", signature.name, action.operandCount,
                              signature.operands.size()));
    for (std::size_t operand = 0; operand < signature.operands.size(); ++operand) {
      const std::uint32_t buffer = program.operands[action.operands + operand];
      const bool absent = buffer == kNoBuffer && signature.operands[operand].optional;
      if (!absent && buffer >= layout.buffers.size())
        return fail(18, rank, index,
                    fmt::format("operand `{}` of {} is buffer {} of a rank with {}",
                                signature.operands[operand].name, signature.name, buffer,
                                layout.buffers.size()));
    }
    return true;
  }

  const Plan &plan;
  Verdict &verdict;
  bool sound = true;
};

} // namespace

bool verifyIndicesInRange(const Plan &plan, Verdict &verdict) {
  return Ranges(plan, verdict).hold();
}

} // namespace vime::verify
