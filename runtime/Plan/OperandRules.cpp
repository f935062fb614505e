#include "runtime/Plan/OperandRules.h"

#include <algorithm>

#include "kernels/SquareNumbers.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/ModelSpec/PolicyWorkspace.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Kept.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Plan/Snapshot.h"
#include "runtime/Plan/StepHeader.h"

namespace vime::plan {
namespace {

constexpr std::uint64_t bit(BufferKind kind) {
  return std::uint64_t{1} << static_cast<unsigned>(kind);
}

/// What these hold becomes addresses. Only a message of their own kind may fill them.
constexpr std::uint64_t kSteering = bit(BufferKind::Header) | bit(BufferKind::Segments) |
                                    bit(BufferKind::Tokens) | bit(BufferKind::Labels) |
                                    bit(BufferKind::Prompts) | bit(BufferKind::Samples) |
                                    bit(BufferKind::AllSamples) | bit(BufferKind::Round);
constexpr std::uint64_t kNumbers = ~kSteering;

std::size_t indexOf(const Signature &signature) {
  return static_cast<std::size_t>(&signature - signatures().data());
}

StageSpec specOf(const Plan &plan, const LocalStage &local) {
  const Model &model = plan.models[local.model];
  return stageSpec(model.config, model.stages[local.stage], capsOf(plan.data));
}

/// Where replicas share a stage, these work on what a replica keeps.
bool keepsWeights(Opcode opcode) {
  return opcode == Opcode::Initialize || opcode == Opcode::Optimize || opcode == Opcode::Snapshot;
}

constexpr std::uint64_t kSquareBytes = kSquareNumbers * sizeof(double);

/// That a rank trains.
std::uint64_t mostStagesOf(const Plan &plan) {
  std::int64_t most = 0;
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank) {
    const std::vector<LocalStage> &stages = programOf(plan, rank)->stages;
    most = std::max(most, std::count_if(stages.begin(), stages.end(), isTrained));
  }
  return static_cast<std::uint64_t>(most);
}

/// The step's data: one slot for each microbatch, because the coordinator fills them all at once.
bool isPerStep(BufferKind kind) {
  return (kind >= BufferKind::Segments && kind <= BufferKind::Losses) ||
         kind == BufferKind::Policy || kind == BufferKind::Reference;
}

} // namespace

/// An operand that the stage does not have: what comes from or goes to the stage before the first,
/// behind the last, or is of models that are trained, or compared with another one.
bool OperandRules::isAbsent(const Signature &signature, const OperandSignature &operand,
                            std::uint32_t stage) const {
  const StageSpec &spec = specs[stage];
  const StageRange &range = spec.range;
  if (operand.name == "context" || operand.name == "context_gradients")
    return plan.data.slices == 1;
  if (signature.opcode == Opcode::Initialize && operand.name == "moments")
    return !isTrained[stage];
  if (operand.name == "reference" && operand.optional)
    return !hasReference(plan);
  if (signature.opcode == Opcode::AddTied)
    return !range.embedding || spec.tiedGradientBytes == 0;
  if (operand.name == "tied_weights" || operand.name == "tied_gradients")
    return !range.head || spec.tiedGradientBytes == 0;
  return operand.optional &&
         ((range.head && (operand.name == "output" || operand.name == "output_gradient")) ||
          (range.embedding && operand.name == "input_gradient"));
}

std::uint64_t OperandRules::workspaceOf(Opcode opcode, std::uint32_t stage) const {
  const StageSpec &spec = specs[stage];
  switch (opcode) {
  case Opcode::Forward:
  case Opcode::Evaluate:
  case Opcode::Infer:
    return spec.forwardWorkspace;
  case Opcode::Backward:
    return spec.backwardWorkspace;
  case Opcode::BackwardInput:
    return spec.backwardInputWorkspace;
  case Opcode::BackwardWeight:
    return spec.backwardWeightWorkspace;
  case Opcode::PolicyLoss:
  case Opcode::LogProbabilities:
  case Opcode::Advantage:
    return policyWorkspace(plan.models.front().config, capsOf(plan.data));
  case Opcode::Generate:
    return engine.workspaceBytes;
  default:
    return 0;
  }
}

OperandRules::OperandRules(const Plan &plan, std::uint32_t rank)
    : plan(plan), rank(rank), tokens(plan.data.tokens), mostStages(mostStagesOf(plan)) {
  const Program &program = *programOf(plan, rank);
  for (const LocalStage &local : program.stages) {
    const Model &model = plan.models[local.model];
    specs.push_back(specOf(plan, local));
    regions.push_back(regionsOf(specs.back(), model.config.type, sharersOf(plan, model)));
    isTrained.push_back(plan::isTrained(local));
  }
  if (plan.mesh.isEngine(rank))
    engine = engineRegions(plan.models.front().config, capsOf(plan.round.rollout));
  if (specs.empty()) { // actions without a stage are checked as if of an empty one
    specs.emplace_back();
    regions.emplace_back();
    isTrained.push_back(true);
  }
  for (const Signature &signature : signatures())
    for (std::uint32_t stage = 0; stage < specs.size(); ++stage)
      byStage.push_back(stageRules(signature, stage));
  for (const Lane &lane : program.lanes)
    byLane.push_back(laneRules(lane));
}

const OperandRuleList &OperandRules::of(const Signature &signature, std::uint8_t lane,
                                        std::uint16_t stage) const {
  const bool isOfStage = signature.opcode == Opcode::Unshard ||
                         signature.opcode == Opcode::ReduceScatter ||
                         signature.opcode == Opcode::BroadcastWeights;
  if (signature.family == Family::Transfer ||
      (signature.family == Family::Collective && !isOfStage))
    return byLane[lane];
  return byStage[indexOf(signature) * specs.size() + (signature.perStage ? stage : 0)];
}

OperandRuleList OperandRules::stageRules(const Signature &signature, std::uint32_t stage) const {
  OperandRuleList rules;
  for (std::size_t operand = 0; operand < signature.operands.size(); ++operand)
    rules[operand] = stageRule(signature, signature.operands[operand], stage);
  return rules;
}

OperandRule OperandRules::stageRule(const Signature &signature, const OperandSignature &operand,
                                    std::uint32_t stage) const {
  OperandRule rule;
  const bool isScratch = signature.opcode == Opcode::Initialize && operand.name == "gradients";
  if (isAbsent(signature, operand, stage) || (isScratch && !isShared(stage))) {
    rule.presence = OperandRule::Presence::Absent;
    return rule;
  }
  if (operand.optional && operand.name == "losses" && !countsLosses()) {
    rule.presence = OperandRule::Presence::Absent;
    return rule;
  }
  const bool isTokens = operand.name == "input" && specs[stage].range.embedding;
  std::optional<BufferKind> kind =
      isTokens ? BufferKind::Tokens : enumeratorOf<BufferKind>(operand.name);
  if (kind == BufferKind::ReplicaStats)
    kind = replicaStats(plan.mesh);
  if (kind == BufferKind::Weights && isShared(stage) && keepsWeights(signature.opcode))
    kind = BufferKind::WeightShare;
  if (!kind) { // `copy` takes any two buffers of numbers
    rule.ownKinds = rule.otherKinds = kNumbers;
    return rule;
  }
  rule.ownKinds = bit(*kind);
  rule.bytes = bytesOf(*kind, signature.opcode, stage);
  rule.slots = isPerStep(*kind) ? mostMicrobatchesOf(plan) : 1;
  // Between stages of one rank the producer writes where the consumer reads.
  if (kind == BufferKind::Output)
    rule.otherKinds = bit(BufferKind::Input);
  if (kind == BufferKind::InputGradient)
    rule.otherKinds = bit(BufferKind::OutputGradient);
  // On the embedding's rank the head reads the embedding itself, which is first in the weights, and
  // its gradient is added where it lies.
  if (kind == BufferKind::TiedWeights)
    rule.otherKinds = bit(BufferKind::Weights), rule.ownKinds |= bit(BufferKind::Weights);
  if (kind == BufferKind::TiedGradients && signature.opcode == Opcode::AddTied)
    rule.otherKinds = bit(BufferKind::TiedGradients);
  return rule;
}

std::uint64_t OperandRules::bytesOf(BufferKind kind, Opcode opcode, std::uint32_t stage) const {
  const StageSpec &spec = specs[stage];
  const std::uint64_t boundary = tokens * spec.boundaryBytesPerToken;
  switch (kind) {
  case BufferKind::Header:
    return StepHeader::bytes(mostMicrobatchesOf(plan));
  case BufferKind::Segments:
    return (std::uint64_t(plan.data.samples) + 1) * sizeof(std::int32_t);
  case BufferKind::Tokens:
  case BufferKind::Labels:
    return tokens * sizeof(std::int32_t);
  case BufferKind::Losses:
    return hasRounds(plan) ? sizeof(PolicyNumbers) : sizeof(double);
  case BufferKind::Scalars:
    return sizeof(StepScalars);
  case BufferKind::Squares:
    return kSquareBytes * mostStages;
  case BufferKind::AllSquares:
    return kSquareBytes * mostStages * plan.mesh.pipeline;
  case BufferKind::Stats:
    return statsBytes(plan);
  case BufferKind::ReplicaStats:
    return statsBytes(plan) * plan.mesh.pipeline;
  case BufferKind::AllStats:
    return statsBytes(plan) * plan.mesh.trainers();
  case BufferKind::Weights:
    return regions[stage].weightBytes;
  case BufferKind::Gradients:
    return regions[stage].gradientBytes;
  case BufferKind::Moments:
    return regions[stage].momentBytes;
  case BufferKind::TiedWeights:
    return spec.tiedWeightBytes;
  case BufferKind::TiedGradients:
    return spec.tiedGradientBytes;
  case BufferKind::Input:
  case BufferKind::Output:
  case BufferKind::OutputGradient:
  case BufferKind::InputGradient:
    return boundary;
  case BufferKind::Stash:
    return spec.stashBytes;
  case BufferKind::WeightStash:
    return spec.weightStashBytes;
  case BufferKind::Workspace:
    return workspaceOf(opcode, stage);
  case BufferKind::Snapshot:
    return snapshotBytes(spec);
  case BufferKind::Staging:
    return kBufferAlignment;
  case BufferKind::Context:
    return spec.contextBytes;
  case BufferKind::ContextGradients:
    return spec.contextGradientBytes;
  case BufferKind::Kept:
    return keptBytes(spec);
  case BufferKind::WeightShare:
    return regions[stage].weightShareBytes;
  case BufferKind::Prompts:
    return promptsBytes(plan.round);
  case BufferKind::Samples:
    return samplesBytes(plan.round);
  case BufferKind::AllSamples:
    return samplesBytes(plan.round) * (plan.mesh.engines + 1);
  case BufferKind::Round:
    return roundBytes(plan.round);
  case BufferKind::Policy:
    return policyRegion(tokens, plan.data.samples).bytes;
  case BufferKind::Reference:
    return tokens * sizeof(double);
  case BufferKind::Records:
    return engine.recordBytes;
  case BufferKind::Cache:
    return engine.cacheBytes;
  }
  return 0;
}

/// The first rank of a replica counts its losses, and nobody else; of several copies of the model
/// each has its own counted where they are, and so has a step that the next one does not wait for.
bool OperandRules::countsLosses() const {
  if (copiesOf(plan.models.front().stages) == 1 && !isPostValidated(plan))
    return rank % plan.mesh.pipeline == 0;
  return std::any_of(specs.begin(), specs.end(),
                     [](const StageSpec &spec) { return spec.range.head; });
}

OperandRuleList OperandRules::laneRules(const Lane &lane) const {
  if (lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive) {
    OperandRule whole;
    whole.ownKinds = whole.otherKinds =
        lane.flow == Flow::Data ? bit(BufferKind::Tokens) | bit(BufferKind::Labels) : kNumbers;
    whole.extent = lane.message.fixed;
    if (lane.message.perToken != 0)
      whole.bytes = lane.message.fixed + tokens * lane.message.perToken;
    return {whole};
  }
  return lane.kind == LaneKind::Group ? groupRules(plan.groups[lane.group]) : OperandRuleList{};
}

OperandRuleList OperandRules::groupRules(const Group &group) const {
  const std::uint64_t members = memberCount(plan.mesh, group);
  const std::uint32_t member = memberIndex(plan.mesh, rank, group);
  const bool inReplica = group.axes == bitOf(Axis::Pipeline);
  OperandRule whole, all;
  whole.extent = group.message.fixed;
  all.extent = members * group.message.fixed;
  switch (group.operation) {
  case Collective::Broadcast:
    whole.ownKinds = group.flow == Flow::Control ? bit(BufferKind::Header)
                     : group.flow != Flow::Data  ? kNumbers
                     : !group.members.empty()    ? bit(BufferKind::Prompts)
                     : inReplica                 ? bit(BufferKind::Segments)
                                                 : bit(BufferKind::Round);
    break;
  case Collective::Gather:
    if (!group.members.empty()) {
      whole.ownKinds = bit(BufferKind::Samples);
      all.ownKinds = bit(BufferKind::AllSamples);
      if (member != group.root)
        all.presence = OperandRule::Presence::Absent;
      break;
    }
    whole.ownKinds = bit(inReplica ? BufferKind::Stats : BufferKind::ReplicaStats);
    all.ownKinds = bit(inReplica ? replicaStats(plan.mesh) : BufferKind::AllStats);
    if (member != group.root)
      all.presence = OperandRule::Presence::Absent;
    break;
  case Collective::AllGather:
    whole.ownKinds = bit(BufferKind::Squares);
    all.ownKinds = bit(BufferKind::AllSquares);
    break;
  case Collective::Unshard:
  case Collective::ReduceScatter:
  case Collective::BroadcastWeights:
    break; // by their stage
  case Collective::AllReduce:
  case Collective::ReduceSquares:
    whole.ownKinds = bit(group.operation == Collective::ReduceSquares ? BufferKind::Squares
                                                                      : BufferKind::Gradients);
    all.ownKinds = bit(BufferKind::Staging);
    all.bytes = kBufferAlignment;
    break;
  }
  return {whole, all};
}

} // namespace vime::plan
