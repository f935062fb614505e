#include "runtime/Plan/CheckParts.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "runtime/ModelSpec/StageShare.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/OperandRules.h"
#include "runtime/Plan/StepHeader.h"

namespace vime::plan {
namespace {

/// All iterations of its loops over microbatches counted: who unrolls them comes to an end.
constexpr std::uint64_t kMostInStep = std::uint64_t{1} << 26;

/// Microbatches that an action can be of.
std::uint32_t microbatchesOf(const Plan &plan, const Signature &signature) {
  if (signature.family == Family::Transfer)
    return mostMicrobatchesOf(plan);
  return isEvaluation(signature.opcode) ? plan.evaluation.microbatches : plan.data.microbatches;
}

/// Signatures by opcode: the search through the table is too slow for every action.
class SignatureIndex {
public:
  SignatureIndex() {
    for (const Signature &signature : signatures())
      slots[slotOf(code(signature.opcode))] = &signature;
  }
  const Signature *find(std::uint16_t opcode) const {
    const Signature *found = slots[slotOf(opcode)];
    return found && code(found->opcode) == opcode ? found : nullptr;
  }

private:
  static std::size_t slotOf(std::uint16_t opcode) {
    return (opcode >> 8 & 15) * 16 + (opcode & 15);
  }
  std::array<const Signature *, 256> slots{};
};

bool runs(const Program &program, Opcode opcode) {
  return std::any_of(program.actions.begin(), program.actions.end(),
                     [&](const Action &action) { return action.opcode == code(opcode); });
}

/// Their routines use what only rank 0 has.
bool isForCoordinator(Opcode opcode) {
  return opcode == Opcode::Decide || opcode == Opcode::Report ||
         opcode == Opcode::ReportEvaluation || opcode == Opcode::ExportCommit ||
         opcode == Opcode::CheckpointCommit || opcode == Opcode::DrawPrompts ||
         opcode == Opcode::DrawEvaluation || opcode == Opcode::Score ||
         opcode == Opcode::ScoreEvaluation || opcode == Opcode::Pack;
}

/// Likewise of what only ranks that generate have.
bool isForEngine(Opcode opcode) {
  return opcode == Opcode::Generate || (opcode >= Opcode::Wake && opcode <= Opcode::Resume);
}

std::uint64_t weightBytesOf(const Plan &plan, const LocalStage &local) {
  const Model &model = plan.models[local.model];
  const StageSpec spec = stageSpec(model.config, model.stages[local.stage], capsOf(plan.data));
  return regionsOf(spec, model.config.type, /*replicas=*/1).weightBytes;
}

class ProgramCheck {
public:
  ProgramCheck(const Plan &plan, std::uint32_t rank)
      : plan(plan), rank(rank), program(*programOf(plan, rank)), layout(*layoutOf(plan, rank)),
        shares(buffersThatShare(layout)),
        loads(runs(program, Opcode::Load) || runs(program, Opcode::LoadRound)) {}

  Status run() {
    if (Status status = checkLanes(); !status.ok())
      return status;
    if (Status status = checkLoops(); !status.ok())
      return status;
    if (Status status = checkCases(); !status.ok())
      return status;
    if (Status status = checkActions(); !status.ok())
      return status;
    return checkHeader();
  }

private:
  Status refuseLane(std::uint32_t lane, const char *problem) const {
    return unacceptable(fmt::format("rank {}: lane {} ({}) {}", rank, lane,
                                    describeLane(plan, rank, lane), problem));
  }
  Status refuseAction(std::uint32_t action, std::string_view problem) const {
    return unacceptable(fmt::format("rank {}: action {} ({}) {}", rank, action,
                                    describe(plan, rank, action), problem));
  }

  Status checkLanes() const;
  const char *problemOf(const Lane &lane) const;
  Status refuseLoop(const Loop &loop, const char *problem) const {
    return unacceptable(fmt::format("rank {}: loop {} {}", rank, loop.id, problem));
  }
  Status checkLoops() const;
  const char *problemOfDecidedTrips(const Loop &loop) const;
  static std::int64_t endOf(const Loop &loop);
  Status checkCases() const;
  bool isCondition(std::uint8_t entry) const { return entry <= plan.conditions.size(); }
  Status checkActions() const;
  Status checkAction(std::uint32_t action, const Stretch &stretch, const SignatureIndex &signatures,
                     const OperandRules &rules) const;
  const char *problemOf(const Action &action, const Signature &signature,
                        const Stretch &stretch) const;
  bool needsDispatcher(const Action &action, const Signature &signature) const;
  const char *problemOfWaits(const Action &action) const;
  Status checkOperands(std::uint32_t index, const Signature &signature,
                       const OperandRuleList &rules) const;
  Status checkSharing(std::uint32_t index) const;
  Status checkHeader() const;

  const Plan &plan;
  std::uint32_t rank;
  const Program &program;
  const Layout &layout;
  const std::vector<bool> shares; // by buffer: whether it is worth a look
  const bool loads;               // fills in its replica's step header itself
};

Status ProgramCheck::checkLanes() const {
  if (program.lanes.empty() || program.lanes.size() > static_cast<std::size_t>(Wait::kMaxLanes))
    return unacceptable(fmt::format("rank {} has {} lanes", rank, program.lanes.size()));
  // One lane for each queue, channel end and group: two would promise no order between them.
  std::set<std::tuple<LaneKind, Flow, std::uint32_t>> seen;
  for (std::uint32_t index = 0; index < program.lanes.size(); ++index) {
    const Lane &lane = program.lanes[index];
    if (!isEnumerator(lane.kind) || (lane.kind == LaneKind::Compute) != (index == 0))
      return refuseLane(index, "is of the wrong kind");
    if (const char *problem = problemOf(lane))
      return refuseLane(index, problem);
    const bool transfers = lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive;
    const std::uint32_t other = transfers ? resolvePeer(plan.mesh, rank, lane.peer)
                                : lane.kind == LaneKind::Group ? lane.group
                                                               : 0;
    if (!seen.emplace(lane.kind, transfers ? lane.flow : Flow::Forward, other).second)
      return refuseLane(index, "exists twice");
  }
  return Status();
}

const char *ProgramCheck::problemOf(const Lane &lane) const {
  if (lane.kind == LaneKind::Group)
    return lane.group < plan.groups.size() ? nullptr : "has no such group";
  if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
    return nullptr;
  if (!isEnumerator(lane.flow) || !isEnumerator(lane.message.type))
    return "has an unknown flow or type";
  const std::int64_t ranks = plan.mesh.pipeline, value = lane.peer.value;
  if (lane.peer.axis != Axis::Pipeline || value >= ranks ||
      (lane.peer.relative ? value <= -ranks : value < 0))
    return "has no such peer";
  if (resolvePeer(plan.mesh, rank, lane.peer) == rank)
    return "leads to its own rank";
  if (lane.slots < 1)
    return "has no slots";
  return nullptr;
}

Status ProgramCheck::checkLoops() const {
  std::set<std::uint32_t> ids;
  for (const Loop &loop : program.loops)
    if (!ids.insert(loop.id).second)
      return refuseLoop(loop, "does not fit its program");
  if (const auto misfit = findLoopMisfit(program))
    return refuseLoop(*misfit->loop, misfit->problem);
  const Loop *outer = nullptr;
  std::int64_t time = 0, timeInside = 0; // where the loop before ends
  for (const Loop &loop : program.loops) {
    const bool isInner = outer && loop.begin < outer->end;
    std::int64_t &before = isInner ? timeInside : time;
    const std::int64_t end = endOf(loop);
    if (loop.start < before || end < 0)
      return refuseLoop(loop, "has no place on the clock");
    if (!isCondition(loop.until) || (isInner && loop.until != 0))
      return refuseLoop(loop, "ends on a condition that it cannot have");
    if (isInner && loop.trips > mostMicrobatchesOf(plan))
      return refuseLoop(loop, "runs more often than a step has microbatches");
    if (const char *problem = problemOfDecidedTrips(loop))
      return refuseLoop(loop, problem);
    before = end;
    if (!isInner) {
      outer = &loop;
      timeInside = 0;
    }
  }
  return Status();
}

/// Trips that depend on the step: in a case, and some in every step in which the case runs.
const char *ProgramCheck::problemOfDecidedTrips(const Loop &loop) const {
  if (loop.perTrip == 0)
    return nullptr;
  const auto one = std::find_if(program.cases.begin(), program.cases.end(), [&](const Case &each) {
    return each.begin <= loop.begin && loop.end <= each.end;
  });
  if (one == program.cases.end() || !isCondition(one->condition))
    return "runs as often as a step asks for, but lies in no case";
  const auto counts = valuesOf(plan, Decision::Microbatches);
  if (counts.empty())
    return "runs as often as a step asks for, but steps do not differ";
  for (const std::uint32_t count : counts)
    if (mayRun(plan, *one, count) && !tripsOf(loop, plan.data.microbatches, count))
      return "is not made for every number of microbatches with which it runs";
  return nullptr;
}

Status ProgramCheck::checkCases() const {
  if (const auto misfit = findCaseMisfit(program))
    return unacceptable(fmt::format("rank {}: case {} {}", rank, misfit->index, misfit->problem));
  for (std::size_t index = 0; index < program.cases.size(); ++index)
    if (!isCondition(program.cases[index].condition))
      return unacceptable(
          fmt::format("rank {}: case {} has a condition that does not exist", rank, index));
  return Status();
}

/// From the start of its parent's iteration; negative if time does not pass or passes too far.
std::int64_t ProgramCheck::endOf(const Loop &loop) {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 60; // no sum over nested loops overflows
  std::int64_t length = 0, end = 0;
  const bool fits = loop.period >= 1 && !__builtin_mul_overflow(loop.period, loop.trips, &length) &&
                    !__builtin_add_overflow(loop.start, length, &end) && end <= kFarthest;
  return fits ? end : -1;
}

Status ProgramCheck::checkActions() const {
  const SignatureIndex signatures;
  const OperandRules rules(plan, rank);
  std::uint64_t inStep = 0;
  for (const Stretch &stretch : stretchesOf(program)) {
    for (std::uint32_t action = stretch.begin; action < stretch.end; ++action)
      if (Status status = checkAction(action, stretch, signatures, rules); !status.ok())
        return status;
    inStep += std::uint64_t{stretch.trips} * (stretch.end - stretch.begin);
    if (inStep > kMostInStep)
      return unacceptable(
          fmt::format("rank {}: a step has more than {} actions", rank, kMostInStep));
  }
  return Status();
}

Status ProgramCheck::checkAction(std::uint32_t action, const Stretch &stretch,
                                 const SignatureIndex &signatures,
                                 const OperandRules &rules) const {
  const Action &fields = program.actions[action];
  const Signature *signature = signatures.find(fields.opcode);
  if (!signature)
    return unacceptable(
        fmt::format("rank {}: action {} has opcode {:#06x}, which this program does not know", rank,
                    action, fields.opcode));
  if (const char *problem = problemOf(fields, *signature, stretch))
    return refuseAction(action, problem);
  return checkOperands(action, *signature, rules.of(*signature, fields.lane, fields.stage));
}

const char *ProgramCheck::problemOf(const Action &action, const Signature &signature,
                                    const Stretch &stretch) const {
  if (action.lane >= program.lanes.size() || program.lanes[action.lane].kind != signature.lane)
    return "is on a lane of another kind";
  if (signature.family == Family::Collective) {
    const Group &group = plan.groups[program.lanes[action.lane].group];
    if (signature.name != nameOf(group.operation))
      return "is not what its group does";
    if (needsDispatcher(action, signature) && (action.flags & kHostBlocking) == 0)
      return "does not let its rank wait for it";
  }
  if (isEvaluation(signature.opcode) && plan.evaluation.text.empty())
    return "is of an evaluation that the plan does not have";
  if (isForEngine(signature.opcode) != plan.mesh.isEngine(rank) && isForEngine(signature.opcode))
    return "is for ranks that generate";
  if (isForCoordinator(signature.opcode) && rank != 0)
    return "is for rank 0 alone";
  if (const char *problem = problemOfWaits(action))
    return problem;
  const std::size_t stages = program.stages.size();
  if (action.stage >= stages && (signature.perStage || action.stage != 0))
    return "is of a stage that its rank does not have";
  const std::uint64_t iterations = std::uint64_t{stretch.first} + stretch.trips - 1;
  const std::uint64_t last = action.step * iterations + action.microbatch;
  if (signature.perMicrobatch ? last >= microbatchesOf(plan, signature)
                              : action.microbatch != 0 || action.step != 0)
    return "is of a microbatch that no step has";
  if ((action.flags & ~knownFlags()) != 0 || !isCondition(action.guard))
    return "has an unknown flag or a condition that does not exist";
  // A peer could not tell what its end skips; a case is the same on all of them.
  if (action.guard != 0 &&
      (signature.family == Family::Transfer || signature.family == Family::Collective))
    return "has a guard, though it has counterparts; put it into a case";
  const bool accumulates =
      signature.opcode == Opcode::Backward || signature.opcode == Opcode::BackwardWeight;
  if (signature.opcode == Opcode::BroadcastWeights) {
    if (std::uint64_t(action.immediate) *
            plan.groups[program.lanes[action.lane].group].message.fixed >=
        weightBytesOf(plan, program.stages[action.stage]))
      return "is of a part of the weights that there is not";
  } else if (signature.opcode == Opcode::Publish) {
    if (action.immediate > kBehindLastRound)
      return "has a version that no round has";
  } else if (action.immediate > (accumulates ? kOverwriteGradients : 0)) {
    return "has an immediate value without meaning";
  }
  if (signature.opcode == Opcode::Loss || signature.opcode == Opcode::EvaluateLoss ||
      signature.opcode == Opcode::PolicyLoss || signature.opcode == Opcode::LogProbabilities) {
    const auto &[model, stage] = program.stages[action.stage];
    if (!plan.models[model].stages[stage].head)
      return "is of a stage without a head";
  }
  if (action.operandCount != signature.operands.size() ||
      action.operands > program.operands.size() ||
      program.operands.size() - action.operands < action.operandCount)
    return "has the wrong number of operands";
  return nullptr;
}

/// What the dispatcher itself must see the end of: the step header, which it reads, unless this
/// rank loads it itself; and a sum, to which its transport adds only while somebody waits.
bool ProgramCheck::needsDispatcher(const Action &action, const Signature &signature) const {
  if (signature.family == Family::Collective &&
      addsUp(plan.groups[program.lanes[action.lane].group].operation))
    return true;
  if (signature.opcode != Opcode::Broadcast || loads)
    return false;
  const Group &group = plan.groups[program.lanes[action.lane].group];
  const bool isRoot = memberIndex(plan.mesh, rank, group) == group.root;
  return group.flow == Flow::Control && !isRoot;
}

const char *ProgramCheck::problemOfWaits(const Action &action) const {
  for (const Wait wait : action.waits)
    if (!wait.empty() &&
        (static_cast<std::size_t>(wait.lane()) >= program.lanes.size() || wait.distance() == 0))
      return "waits for a lane that its rank does not have";
  return nullptr;
}

Status ProgramCheck::checkOperands(std::uint32_t index, const Signature &signature,
                                   const OperandRuleList &rules) const {
  const Action &action = program.actions[index];
  using enum OperandRule::Presence;
  for (std::size_t operand = 0; operand < action.operandCount; ++operand) {
    const OperandRule &rule = rules[operand];
    const std::uint32_t buffer = program.operands[action.operands + operand];
    const bool absent = buffer == kNoBuffer;
    const bool fine = absent ? rule.presence != Required
                             : rule.presence != Absent && buffer < layout.buffers.size() &&
                                   rule.accepts(layout.buffers[buffer], action.stage);
    if (!fine)
      return refuseAction(index,
                          fmt::format("cannot take {} as its `{}`",
                                      absent ? "nothing" : describeBuffer(plan, rank, buffer),
                                      signature.operands[operand].name));
  }
  return checkSharing(index);
}

/// Buffers may lie on the same bytes at different times, not in the same action.
Status ProgramCheck::checkSharing(std::uint32_t index) const {
  const Action &action = program.actions[index];
  const std::uint32_t *const begin = program.operands.data() + action.operands;
  const std::uint32_t *const end = begin + action.operandCount;
  for (const std::uint32_t *one = begin; one != end; ++one) {
    if (*one == kNoBuffer || !shares[*one])
      continue;
    for (const std::uint32_t *other = begin; other != one; ++other)
      if (*other != kNoBuffer && *other != *one &&
          shareBytes(layout.buffers[*one], layout.buffers[*other]))
        return refuseAction(index, fmt::format("has {} and {} on the same bytes",
                                               describeBuffer(plan, rank, *other),
                                               describeBuffer(plan, rank, *one)));
  }
  return Status();
}

/// Every message and every condition looks into the header, whether or not an action names it;
/// conditions on `bad` and `verdict` into the scalars.
Status ProgramCheck::checkHeader() const {
  const auto isThe = [&](BufferKind kind, std::uint64_t bytes) {
    const Buffer *found = nullptr;
    std::size_t count = 0;
    for (const Buffer &buffer : layout.buffers)
      if (buffer.kind == kind) {
        found = &buffer;
        ++count;
      }
    return count == 1 && found->bytes >= bytes;
  };
  if (!isThe(BufferKind::Header, StepHeader::bytes(mostMicrobatchesOf(plan))))
    return unacceptable(fmt::format("rank {} has no buffer that is its step header", rank));
  const bool asksScalars = !plan.mesh.isEngine(rank) &&
                           (!valuesOf(plan, Decision::Bad).empty() || isPostValidated(plan));
  if (asksScalars && !isThe(BufferKind::Scalars, sizeof(StepScalars)))
    return unacceptable(fmt::format("rank {} has no buffer that holds its scalars", rank));
  return Status();
}

} // namespace

Status checkProgram(const Plan &plan, std::uint32_t rank) { return ProgramCheck(plan, rank).run(); }

} // namespace vime::plan
